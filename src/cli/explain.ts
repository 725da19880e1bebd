import {
  apiVersion,
  type Kind,
  kinds,
  resourceSchemaOf,
  type StructuralSchema,
} from '../operator/index.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from './command.ts'
import { findKind } from './find-kind.ts'
import { render } from './output.ts'

/** Prints the description of a kind or field, or its schema as JSON or YAML. */
export async function explain(args: Arguments, io: CommandIo): Promise<number> {
  const [word = '', ...path] = (args.words[0] ?? '').split('.').filter((step) => step !== '')
  const kind = findKind(kinds, word)
  const schema = schemaAt(resourceSchemaOf(kind), path)
  const text = () => pageOf({ kind, path, schema, io, recursive: args.flag('recursive') })
  io.out(render(args, schema, text))
  return exitStatus.ok
}

function schemaAt(schema: StructuralSchema, path: readonly string[]): StructuralSchema {
  return path.reduce((from, step, index) => {
    const fields = fieldsOf(from)
    const next = fields[step]
    if (next !== undefined) return next
    const known = Object.keys(fields).join(', ') || 'none'
    const at = path.slice(0, index).join('.') || 'the resource'
    throw new UsageError(`got "${step}", expected a field of ${at}: ${known}`)
  }, schema)
}

/** Returns the fields of a value, or of the items of a list or map. */
function fieldsOf(schema: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  const { properties, items, additionalProperties } = schema
  const inner = items ?? additionalProperties
  return properties ?? (inner === undefined ? {} : fieldsOf(inner))
}

type Page = {
  kind: Kind
  path: readonly string[]
  schema: StructuralSchema
  io: CommandIo
  recursive: boolean
}

function pageOf({ kind, path, schema, io, recursive }: Page): string {
  const rules = rulesOf(schema)
  const fields = recursive ? treeOf(schema, '  ') : fieldLines(schema, io)
  return [
    `KIND:     ${kind.kind} (${[kind.plural, ...kind.short_names].join(', ')})`,
    `VERSION:  ${apiVersion}`,
    ...(path.length === 0 ? [] : [`FIELD:    ${path.join('.')} <${factsOf(schema)}>`]),
    '',
    io.styled('bold', 'DESCRIPTION:'),
    `  ${schema.description ?? ''}`,
    '',
    ...(rules.length === 0 ? [] : [io.styled('bold', 'RULES:'), ...rules, '']),
    ...(fields.length === 0 ? [] : [io.styled('bold', 'FIELDS:'), ...fields]),
    ...(path.length === 0 ? ['', `Reference: docs/reference/kinds.md`] : []),
    '',
  ].join('\n')
}

/** Returns the rules of a value, and those of the items of a list. */
function rulesOf(schema: StructuralSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `  - ${message}`)
  return schema.items === undefined ? own : [...own, ...rulesOf(schema.items)]
}

function fieldLines(schema: StructuralSchema, io: CommandIo): string[] {
  return Object.entries(fieldsOf(schema)).flatMap(([name, field]) => [
    `  ${io.styled('bold', name)} <${factsOf(field)}>${requiredMark(schema, name)}`,
    ...(field.description === undefined ? [] : [`    ${field.description}`]),
  ])
}

function treeOf(schema: StructuralSchema, indent: string): string[] {
  return Object.entries(fieldsOf(schema)).flatMap(([name, field]) => [
    `${indent}${name} <${factsOf(field)}>${requiredMark(schema, name)}`,
    ...treeOf(field, `${indent}  `),
  ])
}

function requiredMark({ required, items }: StructuralSchema, name: string): string {
  return (required ?? items?.required ?? []).includes(name) ? ' required' : ''
}

/** Formats type, bounds and default: `integer, 1 to 36500`. */
function factsOf(schema: StructuralSchema): string {
  const { minimum, maximum, maxLength, maxItems, maxProperties, pattern, format } = schema
  const facts = [
    typeOf(schema),
    schema.enum?.join(' | '),
    maximum === undefined ? undefined : `${minimum} to ${maximum}`,
    maxLength === undefined ? undefined : `up to ${maxLength} characters`,
    maxItems === undefined ? undefined : `up to ${maxItems}`,
    maxProperties === undefined ? undefined : `up to ${maxProperties}`,
    format?.startsWith('int') ? undefined : (format ?? pattern),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ]
  return facts.filter((fact) => fact !== undefined).join(', ')
}

function typeOf({ type, items, additionalProperties, nullable }: StructuralSchema): string {
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (additionalProperties !== undefined) return `map of ${typeOf(additionalProperties)}`
  return nullable ? `${type} or null` : type
}
