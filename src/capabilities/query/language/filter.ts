import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { type Faults, nearNames, unexpected } from './faults.ts'
import type { Reference } from './field.ts'
import { queryLimits } from './limits.ts'
import { type Operator, operators, operatorsByType, type Scalar, valueReaders } from './values.ts'

/** A valid filter: its fields, operators and values fit the entity. */
export type Filter =
  | { kind: 'and' | 'or'; parts: readonly Filter[] }
  | { kind: 'not'; part: Filter }
  | Test

/**
 * One condition. An unknown value (null, or the empty text) matches only `ne`, `not_in` and
 * `exists: false`, so each record matches either an operator or its opposite.
 */
export type Test = {
  kind: 'test'
  reference: Reference
  op: Exclude<Operator, 'ne' | 'not_in'>
  /** An array for `in`, else one value. */
  value: Scalar | readonly Scalar[]
  /** Compares the text of a map's key as a number. */
  numeric?: true
}

/** The state of reading a query's filters. */
export type FilterContext = {
  faults: Faults
  resolve: (name: string, path: readonly (string | number)[]) => Reference | undefined
  /** Size of all filters of the query read so far. */
  size: { clauses: number; values_bytes: number }
}

type Path = readonly (string | number)[]

type Node = { value: unknown; path: Path; depth: number }

/** Reads a filter from JSON. Returns undefined, and adds faults, when it is not valid. */
export function readFilter(value: unknown, path: Path, context: FilterContext): Filter | undefined {
  return readNode({ value, path, depth: 1 }, context)
}

function readNode(node: Node, context: FilterContext): Filter | undefined {
  const { value, path, depth } = node
  const { faults, size } = context
  size.clauses += 1
  if (size.clauses > queryLimits.clauses_max) {
    if (size.clauses > queryLimits.clauses_max + 1) return undefined
    return faults.add(path, `expected at most ${queryLimits.clauses_max} clauses in all`)
  }
  if (depth > queryLimits.depth_max) {
    return faults.add(path, `expected at most ${queryLimits.depth_max} levels of and, or and not`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return faults.add(path, unexpected(value, shapes))
  }
  const given = value as Record<string, unknown>
  if (Object.hasOwn(given, 'field')) return readTest(given, path, context)
  const [key, ...others] = Object.keys(given)
  if (others.length > 0 || key === undefined) return faults.add(path, unexpected(value, shapes))
  if (key === 'not') {
    const part = readNode({ value: given[key], path: [...path, key], depth: depth + 1 }, context)
    return part && { kind: 'not', part }
  }
  if (key !== 'and' && key !== 'or') return faults.add(path, unexpected(value, shapes))
  return readParts(key, { value: given[key], path: [...path, key], depth }, context)
}

const shapes = '{field, op, value}, {and: […]}, {or: […]} or {not: …}'

function readParts(
  kind: 'and' | 'or',
  { value, path, depth }: Node,
  context: FilterContext,
): Filter | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    return context.faults.add(path, unexpected(value, 'a list of at least one filter'))
  }
  const parts: Filter[] = []
  for (const [at, each] of value.slice(0, queryLimits.clauses_max + 1).entries()) {
    const part = readNode({ value: each, path: [...path, at], depth: depth + 1 }, context)
    if (part) parts.push(part)
  }
  return { kind, parts }
}

function readTest(
  given: Record<string, unknown>,
  path: Path,
  context: FilterContext,
): Filter | undefined {
  const { faults } = context
  for (const key of Object.keys(given)) {
    if (!['field', 'op', 'value'].includes(key)) faults.add([...path, key], 'no such field here')
  }
  const { field, op, value } = given
  if (typeof field !== 'string') {
    return faults.add([...path, 'field'], unexpected(field, 'the name of a field'))
  }
  const reference = context.resolve(field, [...path, 'field'])
  if (!reference) return undefined
  const allowed = operatorsByType[reference.field.type]
  const known = allowed.find((each) => each === op)
  if (known === undefined) {
    return faults.add([...path, 'op'], unknownOperator(op, { field, allowed }))
  }
  return readComparison({ reference, op: known, value }, [...path, 'value'], context)
}

function unknownOperator(
  op: unknown,
  { field, allowed }: { field: string; allowed: readonly Operator[] },
): string {
  const isOperator = operators.some((each) => each === op)
  const [near] = typeof op === 'string' && !isOperator ? nearNames(op, allowed) : []
  const meant = near === undefined ? '' : `${near}? One of `
  const what = isOperator ? `an operator that ${field} takes` : 'an operator'
  return unexpected(op, `${what}: ${meant}${allowed.join(', ')}`)
}

type Comparison = { reference: Reference; op: Operator; value: unknown }

function readComparison(
  { reference, op, value }: Comparison,
  path: Path,
  context: FilterContext,
): Filter | undefined {
  if (op === 'exists') {
    const wanted = value === undefined ? true : value
    if (typeof wanted !== 'boolean') {
      return context.faults.add(path, unexpected(value, 'true or false'))
    }
    return { kind: 'test', reference, op, value: wanted }
  }
  if (op === 'in' || op === 'not_in') {
    const values = readList(reference, value, { path, context })
    const test = values && ({ kind: 'test', reference, op: 'in', value: values } as const)
    return op === 'in' || !test ? test : { kind: 'not', part: test }
  }
  const test = readScalarTest({ reference, op: op === 'ne' ? 'eq' : op, value }, path, context)
  return op === 'ne' && test ? { kind: 'not', part: test } : test
}

const numericOperators: readonly Operator[] = ['eq', 'gt', 'gte', 'lt', 'lte']

function readScalarTest(
  { reference, op, value }: Comparison & { op: Exclude<Operator, 'ne' | 'not_in'> },
  path: Path,
  context: FilterContext,
): Test | undefined {
  if (reference.map_key !== undefined && typeof value === 'number') {
    if (numericOperators.includes(op)) return { kind: 'test', reference, op, value, numeric: true }
  }
  const { read, expected } = valueReaders[reference.field.type]
  const scalar = read(value)
  if (scalar === undefined) return context.faults.add(path, unexpected(value, expected))
  addSize(scalar, path, context)
  return { kind: 'test', reference, op, value: scalar }
}

function readList(
  { field }: Reference,
  value: unknown,
  { path, context }: { path: Path; context: FilterContext },
): Scalar[] | undefined {
  const { in_values_max, in_bytes_max } = queryLimits
  if (!Array.isArray(value) || value.length === 0 || value.length > in_values_max) {
    return context.faults.add(path, unexpected(value, `a list of 1 to ${in_values_max} values`))
  }
  const { read, expected } = valueReaders[field.type]
  const scalars: Scalar[] = []
  let bytes = 0
  for (const [at, each] of value.entries()) {
    const scalar = read(each)
    if (scalar === undefined) {
      return context.faults.add([...path, at], unexpected(each, expected))
    }
    bytes += addSize(scalar, path, context)
    scalars.push(scalar)
  }
  if (bytes <= in_bytes_max) return scalars
  return context.faults.add(path, `expected at most ${in_bytes_max} bytes of values in a list`)
}

/** Adds the bytes that a value takes as a parameter in the request's URL. */
function addSize(scalar: Scalar, path: Path, { size, faults }: FilterContext): number {
  const bytes = 2 + (typeof scalar === 'string' ? Buffer.byteLength(scalar) : 20)
  const before = size.values_bytes
  size.values_bytes += bytes
  const { values_bytes_max: bytes_max } = queryLimits
  if (before <= bytes_max && size.values_bytes > bytes_max) {
    faults.add(path, `expected at most ${bytes_max} bytes of values in all`)
  }
  return bytes
}

/**
 * The shape of a filter, for the OpenAPI document. `readFilter` also checks the fields and
 * operators of the entity.
 */
export const filterSchema: z.ZodType = z
  .lazy(() => z.union([fieldFilter, andFilter, orFilter, notFilter]))
  .meta({
    id: 'Filter',
    description: `Conditions on fields, in at most ${queryLimits.depth_max} levels of and, or and not.`,
    examples: [{ field: 'status', op: 'eq', value: 'error' }],
  })

const fieldFilter = record('FieldFilter', {
  field: z
    .string()
    .describe('A field of the entity, or a key of a map: `attributes.<key>`, `metadata.<key>`.'),
  op: z.enum(operators).meta({ id: 'FilterOperator' }),
  value: z.unknown().optional().describe('Value to compare with; a list for `in` and `not_in`.'),
})

const andFilter = record('AndFilter', { and: z.array(filterSchema).min(1) })

const orFilter = record('OrFilter', { or: z.array(filterSchema).min(1) })

const notFilter = record('NotFilter', { not: filterSchema })
