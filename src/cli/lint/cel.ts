import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import type { StructuralSchema } from '../../operator/crd/index.ts'
import { isObject } from './fault.ts'

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
