import type { StructuralSchema } from '../../operator/index.ts'
import { type Fault, faultAt, isObject, quote } from './fault.ts'
import type { Path } from './read-documents.ts'

/**
 * Returns the faults that the API server finds in a value by its schema, unknown fields included.
 */
export function checkStructure(value: unknown, schema: StructuralSchema, path: Path): Fault[] {
  if (value === null && schema.nullable) return []
  if (!hasType[schema.type](value)) {
    return [faultAt(path, `got ${quote(value)}, expected ${expectedOf(schema)}`)]
  }
  const choices = schema.enum
  if (choices !== undefined && !choices.includes(value)) {
    return [faultAt(path, `got ${quote(value)}, expected one of ${choices.join(', ')}`)]
  }
  return checks[schema.type](value as never, schema, path)
}

const hasType: Record<StructuralSchema['type'], (value: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
}

const checks = {
  object: checkObject,
  array: (value: readonly unknown[], schema: StructuralSchema, path: Path) =>
    checkList(value, { schema, path, checkItem: checkStructure }),
  string: checkText,
  integer: checkInteger,
  boolean: () => [],
}

function expectedOf({ type, enum: choices }: StructuralSchema): string {
  if (choices !== undefined) return `one of ${choices.join(', ')}`
  return { ...names, integer: 'a whole number' }[type]
}

const names = { object: 'fields', array: 'a list', string: 'text', boolean: 'true or false' }

function checkInteger(value: number, schema: StructuralSchema, path: Path): Fault[] {
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = schema
  if (value < minimum || value > maximum) {
    return [faultAt(path, `got ${value}, expected ${minimum} to ${maximum}`)]
  }
  const isMultiple = multipleOf === undefined || value % multipleOf === 0
  return isMultiple ? [] : [faultAt(path, `got ${value}, expected a multiple of ${multipleOf}`)]
}

/** Checks a text. Lengths are in characters, as in the API server. */
function checkText(value: string, schema: StructuralSchema, path: Path): Fault[] {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  const length = [...value].length
  if (length < minLength || length > maxLength) {
    return [faultAt(path, `got ${length} characters, expected ${minLength} to ${maxLength}`)]
  }
  if (format !== undefined && !(formats[format] ?? /^/).test(value)) {
    return [faultAt(path, `got ${quote(value)}, expected a ${format}`)]
  }
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return []
  return [faultAt(path, `got ${quote(value)}, expected it to match ${pattern}`)]
}

/** Formats as the API server checks them. */
const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
}

function checkObject(
  value: Readonly<Record<string, unknown>>,
  schema: StructuralSchema,
  path: Path,
): Fault[] {
  const { properties, additionalProperties } = schema
  if (additionalProperties !== undefined) {
    return checkMap(value, { schema, of: additionalProperties, path })
  }
  // Without either the object is open, as metadata is here.
  if (properties === undefined) return []
  const missing = (schema.required ?? []).filter((name) => !(name in value))
  return [
    ...missing.map((name) => faultAt(path, `${name} is missing`)),
    ...Object.entries(value).flatMap(([name, field]) => {
      const of = properties[name]
      if (of === undefined) return [unknownField([...path, name], Object.keys(properties))]
      return checkStructure(field, of, [...path, name])
    }),
  ]
}

/** Creates the fault for an unknown field. */
export function unknownField(path: Path, known: readonly string[]): Fault {
  const message = `unknown field, expected one of ${known.join(', ')}`
  return { path, part: 'key', level: 'error', message }
}

function checkMap(
  value: Readonly<Record<string, unknown>>,
  { schema, of, path }: { schema: StructuralSchema; of: StructuralSchema; path: Path },
): Fault[] {
  const { minProperties = 0, maxProperties = Infinity } = schema
  const size = Object.keys(value).length
  if (size < minProperties || size > maxProperties) {
    return [faultAt(path, `got ${size} entries, expected ${minProperties} to ${maxProperties}`)]
  }
  return Object.entries(value).flatMap(([name, entry]) =>
    checkStructure(entry, of, [...path, name]),
  )
}

/** The schema of a list, its path and the check of an item. */
type ListContext = {
  schema: StructuralSchema
  path: Path
  checkItem: (value: unknown, schema: StructuralSchema, path: Path) => Fault[]
}

/** Checks a list: its length, its items, and duplicates in sets and map lists. */
function checkList(value: readonly unknown[], context: ListContext): Fault[] {
  const { schema, path, checkItem } = context
  const { minItems = 0, maxItems = Infinity, items } = schema
  const { length } = value
  if (length < minItems || length > maxItems) {
    return [faultAt(path, `got ${length} items, expected ${minItems} to ${maxItems}`)]
  }
  return [
    ...findDuplicates(value, schema).map(({ index, text }) =>
      faultAt([...path, index], `got ${text} twice, expected each once`),
    ),
    ...(items === undefined
      ? []
      : value.flatMap((item, index) => checkItem(item, items, [...path, index]))),
  ]
}

/** Finds repeated items: by their keys in a map list, by their value in a set. */
function findDuplicates(value: readonly unknown[], schema: StructuralSchema) {
  if (schema['x-kubernetes-list-type'] === 'atomic') return []
  const keys = schema['x-kubernetes-list-map-keys']
  const seen = new Set<string>()
  return value.flatMap((item, index) => {
    const text = quote(keys === undefined ? item : identityOf(item, keys))
    const isDuplicate = seen.has(text)
    seen.add(text)
    return isDuplicate ? [{ index, text }] : []
  })
}

function identityOf(item: unknown, keys: readonly string[]): unknown {
  if (!isObject(item)) return item
  const values = keys.map((key) => item[key])
  return values.length === 1 ? values[0] : values
}
