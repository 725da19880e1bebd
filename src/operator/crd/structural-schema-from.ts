import { z } from 'zod'
import {
  assertPortablePattern,
  notStructural,
  parentRules,
  type StructuralSchema,
  type ValidationRule,
} from './structural-schema.ts'

/** A JSON Schema, as written by zod. */
type JsonSchema = { readonly [key: string]: unknown }

/**
 * Converts the input side of a zod schema to a structural schema. `path` is its name in messages,
 * such as `spec`. Throws `SchemaNotStructural` for a value that a CRD can't express, or that has no
 * bound or no description.
 */
export function structuralSchemaFrom(schema: z.ZodType, path: string): StructuralSchema {
  const written = z.toJSONSchema(schema, { io: 'input', cycles: 'throw', reused: 'inline' })
  if ('$defs' in written) notStructural(path, 'a schema with an id in its meta, expected none')
  return toStructural(written as JsonSchema, path)
}

function toStructural(given: JsonSchema, path: string): StructuralSchema {
  const { schema, nullable } = withoutNull(given, path)
  const type = typeOf(schema, path)
  return {
    ...(typeof schema['description'] === 'string' && { description: schema['description'] }),
    type,
    ...(nullable && { nullable: true as const }),
    // The API server treats a default of null as no default.
    ...(schema['default'] != null && { default: schema['default'] }),
    ...partsOf[type](schema, path),
    ...validationsOf(schema, path),
  }
}

/** Removes null from `anyOf: [value, null]` or `type: [type, null]`; refuses any other union. */
function withoutNull(given: JsonSchema, path: string): { schema: JsonSchema; nullable: boolean } {
  for (const word of ['oneOf', 'allOf', 'not', '$ref', 'prefixItems']) {
    if (word in given) notStructural(path, `${word}, expected one plain type`)
  }
  const { anyOf, ...rest } = given
  const all = (anyOf as JsonSchema[] | undefined) ?? typesOf(given)
  const values = all.filter(({ type }) => type !== 'null')
  const [value] = values
  if (value === undefined || values.length > 1) {
    notStructural(path, 'a union, expected one type (or sibling sections and a rule)')
  }
  return { schema: { ...rest, ...value }, nullable: all.length > values.length }
}

function typesOf({ type }: JsonSchema): JsonSchema[] {
  return Array.isArray(type) ? type.map((one) => ({ type: one })) : [{ type }]
}

function typeOf({ type }: JsonSchema, path: string): StructuralSchema['type'] {
  if (typeof type === 'string' && type in partsOf) return type as StructuralSchema['type']
  if (type === 'number') notStructural(path, 'a number with a fraction, expected a whole number')
  return notStructural(path, `type ${JSON.stringify(type)}, expected one plain type`)
}

type Parts = (schema: JsonSchema, path: string) => Partial<StructuralSchema>

const partsOf: Record<StructuralSchema['type'], Parts> = {
  boolean: choicesOf,
  integer: integerParts,
  string: stringParts,
  array: listParts,
  object: objectParts,
}

function choicesOf(schema: JsonSchema): Partial<StructuralSchema> {
  if ('const' in schema) return { enum: [schema['const']] }
  return Array.isArray(schema['enum']) ? { enum: schema['enum'] } : {}
}

/** Uses int32 if the bounds fit. Zod's default bounds of a safe integer do not count as bounds. */
function integerParts(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const { exclusiveMinimum, exclusiveMaximum } = schema
  const minimum = toBound(schema['minimum'] ?? shift(exclusiveMinimum, 1))
  const maximum = toBound(schema['maximum'] ?? shift(exclusiveMaximum, -1))
  if (minimum === undefined || maximum === undefined) {
    notStructural(path, 'a number without bounds, expected a minimum and a maximum')
  }
  return {
    format: minimum >= -int32Limit && maximum < int32Limit ? 'int32' : 'int64',
    ...pick(schema, ['multipleOf']),
    minimum,
    maximum,
    ...choicesOf(schema),
  }
}

const int32Limit = 2 ** 31

const shift = (value: unknown, by: number) => (typeof value === 'number' ? value + by : undefined)

const toBound = (value: unknown) =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined

/** Formats that the API server checks in the same way as zod. */
const formats = new Set(['uuid', 'date-time', 'date'])

function stringParts(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const choices = choicesOf(schema)
  if (choices.enum !== undefined) return choices
  const { format, pattern, maxLength } = schema
  if (format !== undefined && !formats.has(String(format))) {
    notStructural(path, `format ${format}, expected one of ${[...formats].join(', ')}`)
  }
  if (maxLength === undefined && format !== 'date-time') {
    notStructural(path, 'a string without a bound, expected a maximum length')
  }
  if (pattern !== undefined) assertPortablePattern(String(pattern), path)
  // In the status, which only the operator writes, the format suffices without zod's long pattern.
  const isFormatEnough = format !== undefined && /^status\b/.test(path)
  return pick(schema, [
    'format',
    ...(isFormatEnough ? [] : ['pattern' as const]),
    'minLength',
    'maxLength',
  ])
}

function listParts(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const { items, maxItems, uniqueItems } = schema
  if (maxItems === undefined) notStructural(path, 'a list without a bound, expected a maximum')
  if (uniqueItems !== undefined) notStructural(path, "uniqueItems, expected list type 'set'")
  const list_type = schema['x-kubernetes-list-type'] ?? 'atomic'
  const of = toStructural(items as JsonSchema, `${path}[]`)
  if (list_type === 'map') assertMapKeys(schema, of, path)
  return {
    ...pick(schema, ['minItems', 'maxItems']),
    items: of,
    'x-kubernetes-list-type': list_type as 'atomic',
    ...pick(schema, ['x-kubernetes-list-map-keys']),
  }
}

/** Requires the key fields of a map list, because they identify its entries. */
function assertMapKeys(schema: JsonSchema, items: StructuralSchema, path: string): void {
  const keys = schema['x-kubernetes-list-map-keys']
  if (!Array.isArray(keys) || keys.length === 0) {
    notStructural(path, "list type 'map' without x-kubernetes-list-map-keys")
  }
  for (const key of keys as string[]) {
    const field = items.properties?.[key]
    if (field === undefined || !(items.required?.includes(key) || 'default' in field)) {
      notStructural(path, `key ${key} may be missing, expected it required or with a default`)
    }
  }
}

function objectParts(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const { properties, additionalProperties, required } = schema
  if (properties === undefined) return mapParts(schema, path)
  if (additionalProperties !== undefined && additionalProperties !== false) {
    notStructural(path, 'named fields together with a map, expected one of them')
  }
  const fields = Object.entries(properties as Record<string, JsonSchema>)
  return {
    ...pick(schema, ['x-kubernetes-map-type']),
    ...(Array.isArray(required) && required.length > 0 && { required: required as string[] }),
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, fieldOf(field, `${path}.${name}`)]),
    ),
  }
}

function fieldOf(schema: JsonSchema, path: string): StructuralSchema {
  const field = toStructural(schema, path)
  if (field.description === undefined) notStructural(path, 'no description, expected a sentence')
  return field
}

function mapParts(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const { additionalProperties, propertyNames, maxProperties } = schema
  if (typeof additionalProperties !== 'object' || additionalProperties === null) {
    notStructural(path, 'an object without fields, expected fields or values of one type')
  }
  if (maxProperties === undefined) {
    notStructural(path, "a map without a bound, expected maxProperties in the schema's meta")
  }
  if (
    Object.keys((propertyNames as JsonSchema | undefined) ?? {}).some((word) => word !== 'type')
  ) {
    notStructural(path, 'rules for the names of a map, expected a CEL rule instead')
  }
  return {
    ...pick(schema, ['minProperties', 'maxProperties', 'x-kubernetes-map-type']),
    additionalProperties: toStructural(additionalProperties as JsonSchema, `${path}.*`),
  }
}

/** Returns the rules in the meta, and the rules that keep optional fields immutable. */
function validationsOf(schema: JsonSchema, path: string): Partial<StructuralSchema> {
  const own = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[]
  for (const { rule, message } of own) {
    if (!rule || !message) notStructural(path, 'a rule without a message, expected both')
  }
  const rules = [...own, ...parentRules(schema, path)]
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }
}

function pick(schema: JsonSchema, words: readonly (keyof StructuralSchema)[]) {
  const present = words.filter((word) => schema[word] !== undefined)
  return Object.fromEntries(
    present.map((word) => [word, schema[word]]),
  ) as Partial<StructuralSchema>
}
