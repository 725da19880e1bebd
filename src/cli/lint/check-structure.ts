import { Ajv, type ErrorObject } from 'ajv'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { StructuralSchema } from '../../operator/index.ts'
import { type Fault, faultAt, isObject, quote } from './fault.ts'
import type { Path } from './read-documents.ts'

/** Adds missing defaults to a value, then returns the faults that the API server finds in it. */
export type StructureCheck = (value: unknown) => Fault[]

/** Compiles the check of a schema. Unknown fields are faults, as in strict field validation. */
export function createStructureCheck(schema: StructuralSchema): StructureCheck {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    ownProperties: true,
    formats,
  })
  ajv.addVocabulary(['x-kubernetes-map-type', 'x-kubernetes-validations'])
  ajv.addVocabulary(['x-kubernetes-list-map-keys'])
  ajv.addKeyword({ keyword: listType, type: 'array', errors: 'full', compile: compileListType })
  const validate = ajv.compile(closeObjects(schema))
  return (value) => (validate(value) ? [] : faultsFrom(validate.errors ?? [], value))
}

const listType = 'x-kubernetes-list-type'

/** Formats as the API server checks them. The bounds of integers are also a minimum and maximum. */
const formats = {
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  int32: true,
  int64: true,
} as const

/** Adds `additionalProperties: false`, which a CRD must not contain, to objects of named fields. */
function closeObjects(schema: StructuralSchema): object {
  const { properties, additionalProperties, items } = schema
  return {
    ...schema,
    ...(items !== undefined && { items: closeObjects(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: closeObjects(additionalProperties),
    }),
    ...(properties !== undefined && {
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, closeObjects(field)]),
      ),
    }),
  }
}

/** Compiles the check for repeated items: by their keys in a map list, by their value in a set. */
function compileListType(type: string, schema: object) {
  const keys = (schema as StructuralSchema)['x-kubernetes-list-map-keys']
  const check = (items: readonly unknown[]): boolean => {
    const seen = new Set<string>()
    check.errors = items.flatMap((item, index) => {
      const identity = keys === undefined ? item : identityOf(item, keys)
      const text = canonicalJson(identity)
      const isDuplicate = seen.has(text)
      seen.add(text)
      return isDuplicate ? [{ keyword: listType, params: { index, identity } }] : []
    })
    return check.errors.length === 0
  }
  check.errors = [] as Partial<ErrorObject>[]
  return type === 'atomic' ? () => true : check
}

function identityOf(item: unknown, keys: readonly string[]): unknown {
  if (!isObject(item)) return item
  const values = keys.map((key) => item[key])
  return values.length === 1 ? values[0] : values
}

/** Keywords whose errors are about a part of the value, so that a value may have several. */
const partKeywords = new Set(['required', 'additionalProperties', listType])

/** Converts errors to faults. Of errors about one value only the first becomes a fault. */
function faultsFrom(errors: readonly ErrorObject[], root: unknown): Fault[] {
  const faulty = new Set<string>()
  return errors.flatMap((error) => {
    const { keyword, instancePath } = error
    if (!partKeywords.has(keyword)) {
      if (faulty.has(instancePath)) return []
      faulty.add(instancePath)
    }
    return [faultFrom(error, pathFrom(instancePath, root))]
  })
}

/** Reads a JSON Pointer (RFC 6901) to a value. Steps into lists become numbers. */
function pathFrom(pointer: string, root: unknown): Path {
  let value = root
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const isIndex = Array.isArray(value)
    value = (value as Readonly<Record<string, unknown>>)[name]
    return isIndex ? Number(name) : name
  })
}

function faultFrom({ keyword, params, data, parentSchema }: ErrorObject, path: Path): Fault {
  const schema = parentSchema as StructuralSchema
  switch (keyword) {
    case 'required':
      return faultAt(path, `${params['missingProperty']} is missing`)
    case 'additionalProperties':
      return unknownField(
        [...path, params['additionalProperty']],
        Object.keys(schema.properties ?? {}),
      )
    case listType: {
      const text = quote(params['identity'])
      return faultAt([...path, params['index']], `got ${text} twice, expected each once`)
    }
    default:
      return faultAt(path, `got ${gotOf(keyword, data)}, expected ${expectedOf(keyword, schema)}`)
  }
}

/** Creates the fault for an unknown field. */
export function unknownField(path: Path, known: readonly string[]): Fault {
  const message = `unknown field, expected one of ${known.join(', ')}`
  return { path, part: 'key', level: 'error', message }
}

function gotOf(keyword: string, value: unknown): string {
  if (/Length$/.test(keyword)) return `${[...String(value)].length} characters`
  if (/Items$/.test(keyword)) return `${(value as readonly unknown[]).length} items`
  if (/Properties$/.test(keyword)) return `${Object.keys(value as object).length} entries`
  return quote(value)
}

function expectedOf(keyword: string, schema: StructuralSchema): string {
  const { type, enum: choices, minimum, maximum, minLength, maxLength } = schema
  const { minItems, maxItems, minProperties, maxProperties, multipleOf, format, pattern } = schema
  if (/^m(in|ax)imum$/.test(keyword)) return rangeOf(minimum ?? -Infinity, maximum)
  if (/Length$/.test(keyword)) return rangeOf(minLength, maxLength)
  if (/Items$/.test(keyword)) return rangeOf(minItems, maxItems)
  if (/Properties$/.test(keyword)) return rangeOf(minProperties, maxProperties)
  if (keyword === 'multipleOf') return `a multiple of ${multipleOf}`
  if (keyword === 'format') return `a ${format}`
  if (keyword === 'pattern') return `it to match ${pattern}`
  return choices === undefined ? typeNames[type] : `one of ${choices.join(', ')}`
}

const rangeOf = (least = 0, most = Infinity) => `${least} to ${most}`

const typeNames = {
  object: 'fields',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  boolean: 'true or false',
}
