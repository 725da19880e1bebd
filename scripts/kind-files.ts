import {
  apiGroup,
  apiVersion,
  crdOf,
  crdYaml,
  type Kind,
  resourceSchemaOf,
  type StructuralSchema,
} from '../src/operator/index.ts'
import { kindsPage } from './kinds-page.ts'

/** Files generated from the kinds: CRDs, a copy for the chart, schemas for editors, the page. */
export function kindFiles(kinds: readonly Kind[]): { path: string; content: string }[] {
  return [
    ...kinds.flatMap((kind) => {
      const name = `${kind.plural}.${apiGroup}.yaml`
      const content = `# Written by \`make generate\`.\n${crdYaml(crdOf(kind))}`
      return [
        { path: `crds/${name}`, content },
        { path: `charts/looptrace/files/crds/${name}`, content },
        {
          path: `docs/reference/schemas/${kind.singular}_${apiVersion.split('/')[1]}.json`,
          content: jsonOf(editorSchemaOf(kind)),
        },
      ]
    }),
    {
      path: 'charts/looptrace/files/kinds.json',
      content: jsonOf(kinds.map(({ plural, kind, scope }) => ({ plural, kind, scope }))),
    },
    { path: 'docs/reference/kinds.md', content: kindsPage(kinds) },
  ]
}

/** A JSON Schema for completion and checks in editors; unknown fields are reported too. */
function editorSchemaOf(kind: Kind): object {
  const { properties = {}, ...rest } = resourceSchemaOf(kind)
  const { status: _, ...written } = properties

  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: kind.kind,
    ...rest,
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      ...written,
      apiVersion: { ...written['apiVersion'], const: apiVersion },
      kind: { ...written['kind'], const: kind.kind },
      spec: closed(written['spec'] as StructuralSchema),
    },
  }
}

function closed(schema: StructuralSchema): object {
  const { properties, items, additionalProperties, nullable, ...rest } = schema
  const type = nullable ? [schema.type, 'null'] : schema.type
  return {
    ...rest,
    type,
    ...(items !== undefined && { items: closed(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: closed(additionalProperties),
    }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, closed(field)]),
      ),
      additionalProperties: false,
    }),
  }
}

const jsonOf = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
