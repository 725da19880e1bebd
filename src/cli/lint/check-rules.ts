import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import type { StructuralSchema, ValidationRule } from '../../operator/index.ts'
import { type Fault, faultAt, isObject } from './fault.ts'
import type { Path } from './read-documents.ts'

/** The rules in CEL that a value breaks. Its structure has to be right. */
export function checkRules(value: unknown, schema: StructuralSchema, path: Path): Fault[] {
  if (value === null || value === undefined) return []
  const rules = schema['x-kubernetes-validations'] ?? []
  const self = rules.length === 0 ? undefined : celValue(value, schema)
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
  let check: ReturnType<typeof celCheck>
  try {
    check = celCheck(rule.rule)
  } catch (error) {
    const message = `not checked here: ${rule.message} (${firstLine(error)})`
    return [{ ...faultAt(at, message), level: 'warning' }]
  }
  try {
    return check === undefined || check(self) ? [] : [faultAt(at, rule.message)]
  } catch (error) {
    // The API server refuses what a rule can't be asked about.
    return [faultAt(at, `${rule.message} (${firstLine(error)})`)]
  }
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n')[0] ?? ''
}

/** A rule that was read; undefined for one that compares with what is in the cluster. */
export type CelCheck = (self: unknown) => boolean

/** Reads a rule. Throws for one that this side does not understand. */
export function celCheck(rule: string): CelCheck | undefined {
  if (/\boldSelf\b/.test(rule)) return undefined
  const read = checks.get(rule) ?? parsed(rule)
  checks.set(rule, read)
  return (self) => read({ self }) === true
}

const checks = new Map<string, ParseResult>()

/** Making one is dear, and all rules share it. */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})

function parsed(rule: string): ParseResult {
  const read = environment.parse(rule)
  const { valid, error } = read.check()
  if (!valid) throw error
  return read
}

/**
 * A value as rules see it: whole numbers are int, instants are timestamps, and names that are words
 * of CEL are escaped, as Kubernetes has it.
 */
export function celValue(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (typeof value === 'number') return BigInt(value)
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items))
  if (typeof value === 'string' && schema?.format === 'date-time') return new Date(value)
  if (!isObject(value)) return value
  const { properties, additionalProperties } = schema ?? {}
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      properties === undefined ? name : escaped(name),
      celValue(field, properties?.[name] ?? additionalProperties),
    ]),
  )
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** https://kubernetes.io/docs/reference/using-api/cel/#escaping */
function escaped(name: string): string {
  if (reserved.has(name)) return `__${name}__`
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}
