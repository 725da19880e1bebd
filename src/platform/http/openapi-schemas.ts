import { z } from 'zod'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { sharedScalars, shownSchema } from '../../model/named-schemas.ts'
import { isJson, type Json, mapInnerSchemas, mapSchema, splitAnnotations } from './json-schema.ts'

/** A schema of a route, and whether clients send (`input`) or receive (`output`) its values. */
export type SchemaUse = { schema: z.ZodType; io: 'input' | 'output' }

/** The named schemas of a document, and references to them. */
export type NamedSchemas = {
  /** `components.schemas` by name, as far as the uses need them. */
  components: Record<string, Json>
  /** Returns the schema of a use: inline, or a reference to a component. */
  of(use: SchemaUse): Json
}

/**
 * Converts the schemas of routes to JSON Schema 2020-12. A schema with an `id` in its metadata
 * becomes a component. If its input and output shapes differ (defaults), there are two components,
 * `Name` and `NameInput`. A scalar or an enum that equals a component refers to it. Throws when two
 * different schemas have the same name.
 */
export function namedSchemas(uses: readonly SchemaUse[]): NamedSchemas {
  const output = convertSchemas(uses, 'output')
  const input = convertSchemas(uses, 'input')
  const variants = findInputVariants(input.components, output.components)
  const nameOf = (name: string) => (variants.has(name) ? `${name}Input` : name)
  const all = new Map(output.components)
  for (const [name, schema] of input.components) {
    if (variants.has(name) && all.has(nameOf(name))) throw duplicateName(nameOf(name))
    all.set(nameOf(name), renameReferences(schema, nameOf))
  }
  for (const name of variants) all.set(name, removeRepeats(all, name))
  const scalars = findScalarNames(all)
  const components = new Map<string, Json>()
  const finished = (schema: Json) =>
    mapSchema(schema, (inner) =>
      withDiscriminator(toReference(shorten(toList(inner)), scalars), all),
    )
  for (const [name, schema] of all) {
    const inner = mapInnerSchemas(schema, finished)
    components.set(name, toPublicReferences(withDiscriminator(inner, all)))
  }
  const of = ({ schema, io }: SchemaUse): Json => {
    const root = (io === 'input' ? input : output).roots.get(schema)
    if (root === undefined) throw new Error('the schema is not one of the uses')
    return toPublicReferences(finished(io === 'input' ? renameReferences(root, nameOf) : root))
  }
  return { components: selectReachable(uses.map(of), components), of }
}

type Converted = { roots: Map<z.ZodType, Json>; components: Map<string, Json> }

function convertSchemas(uses: readonly SchemaUse[], io: SchemaUse['io']): Converted {
  const roots = new Map<z.ZodType, Json>()
  const components = new Map<string, Json>()
  const pending: z.ZodType[] = [...sharedScalars]
  for (const use of uses) if (use.io === io) pending.push(use.schema)
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (roots.has(schema)) continue
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    }: Json = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const as = shownSchema(zodSchema)
        if (as === undefined) return
        pending.push(as)
        replaceByReference(jsonSchema, definitionRef(getId(as)))
      },
    })
    roots.set(schema, root)
    for (const [name, component] of Object.entries($defs as Record<string, Json>)) {
      const known = components.get(name)
      if (known !== undefined && canonicalJson(known) !== canonicalJson(component))
        throw duplicateName(name)
      components.set(name, component)
    }
  }
  return { roots, components }
}

function replaceByReference(jsonSchema: Json, $ref: string): void {
  const { description } = jsonSchema
  for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword]
  Object.assign(jsonSchema, { $ref, ...(description !== undefined && { description }) })
}

function getId(schema: z.ZodType): string {
  const id = z.globalRegistry.get(schema)?.id
  if (id === undefined) throw new Error('documentedAs expects a schema with an id')
  return id
}

function duplicateName(name: string): Error {
  return new Error(`two different schemas have the name ${name}`)
}

const definitions = '#/$defs/'

function definitionRef(name: string): string {
  return `${definitions}${name}`
}

function referencedName({ $ref }: Json): string | undefined {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

function referencesIn(schema: Json): string[] {
  const names: string[] = []
  mapSchema(schema, (inner) => {
    const name = referencedName(inner)
    if (name !== undefined) names.push(name)
    return inner
  })
  return names
}

function renameReferences(schema: Json, nameOf: (name: string) => string): Json {
  return mapSchema(schema, (inner) => {
    const name = referencedName(inner)
    return name === undefined ? inner : { ...inner, $ref: definitionRef(nameOf(name)) }
  })
}

function toPublicReferences(schema: Json): Json {
  return mapSchema(schema, (inner) => {
    const name = referencedName(inner)
    return name === undefined ? inner : { ...inner, $ref: `#/components/schemas/${name}` }
  })
}

/** Finds the components with different input and output shapes, directly or by reference. */
function findInputVariants(input: Map<string, Json>, output: Map<string, Json>): Set<string> {
  const variants = new Set<string>()
  for (let before = -1; before < variants.size; ) {
    before = variants.size
    for (const [name, schema] of input) {
      const other = output.get(name)
      if (other === undefined) continue
      const differs = canonicalJson(schema) !== canonicalJson(other)
      if (differs || referencesIn(schema).some((inner) => variants.has(inner))) variants.add(name)
    }
  }
  return variants
}

/** Removes the descriptions of fields from the output variant; the input variant has them. */
function removeRepeats(components: Map<string, Json>, name: string): Json {
  const { properties, ...schema } = components.get(name) ?? {}
  if (!isJson(properties)) return { ...schema }
  const fields = Object.entries(properties).map(([field, inner]) => {
    const { type, $ref } = inner as Json
    const isPlain = type === 'boolean' || type === 'integer' || type === 'number'
    const { rules } = splitAnnotations(inner as Json)
    return [field, $ref === undefined && isPlain ? { type } : rules] as const
  })
  return {
    description: `\`${name}Input\` with a value for every field.`,
    ...schema,
    properties: Object.fromEntries(fields),
  }
}

/** Maps the canonical text of scalar components, without annotations, to their names. */
function findScalarNames(components: Map<string, Json>): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, schema] of components) {
    const { rules } = splitAnnotations(schema)
    if (!isScalar(rules)) continue
    const text = canonicalJson(rules)
    const other = names.get(text)
    if (other !== undefined) throw new Error(`${name} and ${other} are the same schema`)
    names.set(text, name)
  }
  return names
}

function isScalar({ type }: Json): boolean {
  return type === 'string' || type === 'integer' || type === 'number'
}

/** Turns a tuple of equal items into a list of that length: generators of clients know no tuples. */
function toList({ prefixItems, items, ...schema }: Json): Json {
  if (!Array.isArray(prefixItems)) return items === undefined ? schema : { ...schema, items }
  const [first, ...others] = prefixItems.map((item) => canonicalJson(item))
  if (others.some((other) => other !== first)) {
    throw new Error('a tuple of different items has no place in the document')
  }
  const { length } = prefixItems
  return { ...schema, items: prefixItems[0] as Json, minItems: length, maxItems: length }
}

/** Writes the same schema with fewer keywords, which client generators handle better. */
function shorten({ propertyNames, anyOf, ...schema }: Json): Json {
  // Property names are always strings in JSON.
  if (propertyNames !== undefined && canonicalJson(propertyNames) !== '{"type":"string"}') {
    schema['propertyNames'] = propertyNames
  }
  if (!Array.isArray(anyOf)) return schema
  const [first, second, ...others] = anyOf as Json[]
  const isNullable = second?.['type'] === 'null' && others.length === 0
  const { type, enum: values, const: value } = first ?? {}
  const isListed = values !== undefined || value !== undefined
  if (!isNullable || typeof type !== 'string' || isListed) return { anyOf, ...schema }
  return { ...first, ...schema, type: [type, 'null'] }
}

function toReference(schema: Json, scalars: Map<string, string>): Json {
  const { rules, notes } = splitAnnotations(schema)
  if (!isScalar(rules)) return schema
  const name = scalars.get(canonicalJson(rules))
  return name === undefined ? schema : { $ref: definitionRef(name), ...notes }
}

/** Adds the property that discriminates the options of a union, if there is one. */
function withDiscriminator(schema: Json, components: Map<string, Json>): Json {
  if (!Array.isArray(schema['oneOf'])) return schema
  const options = schema['oneOf'].map((option: Json) => referencedName(option))
  const shapes = options.map((name) => components.get(name ?? '')?.['properties'])
  const [first] = shapes
  if (!isJson(first) || !shapes.every(isJson)) return schema
  for (const propertyName of Object.keys(first)) {
    const values = shapes.map((shape) => constantOf(shape[propertyName]))
    if (values.includes(undefined) || new Set(values).size < values.length) continue
    const mapping = Object.fromEntries(
      values.map((value, at) => [value, `#/components/schemas/${options[at]}`]),
    )
    return { ...schema, discriminator: { propertyName, mapping } }
  }
  return schema
}

function constantOf(schema: unknown): string | undefined {
  return isJson(schema) && typeof schema['const'] === 'string' ? schema['const'] : undefined
}

function selectReachable(
  roots: readonly Json[],
  components: Map<string, Json>,
): Record<string, Json> {
  const found = new Map<string, Json>()
  const pending = roots.flatMap(referencesIn)
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = components.get(name)
    if (schema === undefined || found.has(name)) continue
    found.set(name, schema)
    pending.push(...referencesIn(schema))
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
