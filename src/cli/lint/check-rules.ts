import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import type { StructuralSchema, ValidationRule } from '../../operator/index.ts'
import { type Fault, faultAt, isObject } from './fault.ts'
import type { Path } from './read-documents.ts'

/** Returns the CEL rules that a value breaks. The value must match its schema. */
export function checkRules(value: unknown, schema: StructuralSchema, path: Path): Fault[] {
  if (value === null || value === undefined) return []
  const rules = schema['x-kubernetes-validations'] ?? []
  const self = rules.length === 0 ? undefined : toCelValue(value, schema)
  return [
    ...rules.flatMap((rule) => checkRule(rule, self, path)),
    ...partsOf(value, schema).flatMap(([step, part, of]) => checkRules(part, of, [...path, step])),
  ]
}

type Part = [string | number, unknown, StructuralSchema]

function partsOf(value: unknown, schema: StructuralSchema): Part[] {
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.map((item, index) => [index, item, items])
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, field]): Part[] => {
    const of = properties?.[name] ?? additionalProperties
    return of === undefined ? [] : [[name, field, of]]
  })
}

function checkRule(rule: ValidationRule, self: unknown, path: Path): Fault[] {
  const at = [...path, ...(rule.fieldPath?.split('.').filter((step) => step !== '') ?? [])]
  let check: ReturnType<typeof parseCelRule>
  try {
    check = parseCelRule(rule.rule)
  } catch (error) {
    const message = `not evaluated by lint: ${rule.message} (${firstLine(error)})`
    return [{ ...faultAt(at, message), level: 'warning' }]
  }
  try {
    return check === undefined || check(self) ? [] : [faultAt(at, rule.message)]
  } catch (error) {
    // The API server refuses a value for which a rule fails to evaluate.
    return [faultAt(at, `${rule.message} (${firstLine(error)})`)]
  }
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n')[0] ?? ''
}

/** A parsed rule. */
export type CelCheck = (self: unknown) => boolean

/** Parses a rule; undefined for one that uses `oldSelf`. Throws for unsupported syntax. */
export function parseCelRule(rule: string): CelCheck | undefined {
  if (/\boldSelf\b/.test(rule)) return undefined
  const evaluate = parsedRules.get(rule) ?? parse(rule)
  parsedRules.set(rule, evaluate)
  return (self) => evaluate({ self }) === true
}

const parsedRules = new Map<string, ParseResult>()

/** Shared by all rules, because creating one is expensive. */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})

function parse(rule: string): ParseResult {
  const parsed = environment.parse(rule)
  const { valid, error } = parsed.check()
  if (!valid) throw error
  return parsed
}

/**
 * Converts a value for CEL as Kubernetes does: whole numbers become int, instants become
 * timestamps, and names that are reserved in CEL are escaped.
 */
export function toCelValue(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (typeof value === 'number') return BigInt(value)
  if (Array.isArray(value)) return value.map((item) => toCelValue(item, schema?.items))
  if (typeof value === 'string' && schema?.format === 'date-time') return new Date(value)
  if (!isObject(value)) return value
  const { properties, additionalProperties } = schema ?? {}
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      properties === undefined ? name : escapeName(name),
      toCelValue(field, properties?.[name] ?? additionalProperties),
    ]),
  )
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** https://kubernetes.io/docs/reference/using-api/cel/#escaping */
function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}
