import type { StructuralSchema } from '../../operator/index.ts'
import { type Fault, faultAt, isObject, quoted } from './fault.ts'
import type { Path } from './read-documents.ts'

/** Whatever the schema refuses in a value, as the API server would, and fields it does not know. */
export function checkStructure(value: unknown, schema: StructuralSchema, path: Path): Fault[] {
  if (value === null && schema.nullable) return []
  if (!hasType[schema.type](value)) {
    return [faultAt(path, `got ${quoted(value)}, expected ${expectedOf(schema)}`)]
  }
  const choices = schema.enum
  if (choices !== undefined && !choices.includes(value)) {
    return [faultAt(path, `got ${quoted(value)}, expected one of ${choices.join(', ')}`)]
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

/** Lengths are in characters, as the API server counts them. */
function checkText(value: string, schema: StructuralSchema, path: Path): Fault[] {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  const length = [...value].length
  if (length < minLength || length > maxLength) {
    return [faultAt(path, `got ${length} characters, expected ${minLength} to ${maxLength}`)]
  }
  if (format !== undefined && !(formats[format] ?? /^/).test(value)) {
    return [faultAt(path, `got ${quoted(value)}, expected a ${format}`)]
  }
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return []
  return [faultAt(path, `got ${quoted(value)}, expected it to match ${pattern}`)]
}

/** As the API server has them. */
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
  // Without either it is open, as metadata is here.
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

/** A field that the schema does not know. */
export function unknownField(path: Path, known: readonly string[]): Fault {
  const message = `is no field; expected one of ${known.join(', ')}`
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

type About = {
  schema: StructuralSchema
  path: Path
  checkItem: (value: unknown, schema: StructuralSchema, path: Path) => Fault[]
}

/** What a list's schema refuses: its length, its items, and two of the same where each is one. */
export function checkList(value: readonly unknown[], about: About): Fault[] {
  const { schema, path, checkItem } = about
  const { minItems = 0, maxItems = Infinity, items } = schema
  const { length } = value
  if (length < minItems || length > maxItems) {
    return [faultAt(path, `got ${length} items, expected ${minItems} to ${maxItems}`)]
  }
  return [
    ...doubles(value, schema).map(({ index, text }) =>
      faultAt([...path, index], `got ${text} twice, expected each once`),
    ),
    ...(items === undefined
      ? []
      : value.flatMap((item, index) => checkItem(item, items, [...path, index]))),
  ]
}

/** Items that are there before: by their keys in a map list, by their value in a set. */
function doubles(value: readonly unknown[], schema: StructuralSchema) {
  if (schema['x-kubernetes-list-type'] === 'atomic') return []
  const keys = schema['x-kubernetes-list-map-keys']
  const seen = new Set<string>()
  return value.flatMap((item, index) => {
    const text = quoted(keys === undefined ? item : identityOf(item, keys))
    const isDouble = seen.has(text)
    seen.add(text)
    return isDouble ? [{ index, text }] : []
  })
}

function identityOf(item: unknown, keys: readonly string[]): unknown {
  if (!isObject(item)) return item
  const values = keys.map((key) => item[key])
  return values.length === 1 ? values[0] : values
}
