import type { Filter, Test } from '../language/filter.ts'
import type { Reference } from '../language/reference.ts'
import type { Scalar } from '../language/values.ts'
import { type Dialect, type Expression, nextTick } from './dialect.ts'
import type { Params } from './statement.ts'

/** What turns conditions into text: a dialect, the parameters, and where each field is. */
export type Scope = {
  dialect: Dialect
  params: Params
  expression: (reference: Reference) => Expression
}

/** The text of a filter; true or false for every row, never null. */
export function conditionOf(filter: Filter, scope: Scope): string {
  switch (filter.kind) {
    case 'not':
      return `NOT (${conditionOf(filter.part, scope)})`
    case 'and':
    case 'or': {
      const parts = filter.parts.map((part) => conditionOf(part, scope))
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`
    }
    case 'test':
      return testOf(filter, scope)
  }
}

/** The conditions that must all hold. */
export function conjunctsOf(filter: Filter | undefined): readonly Filter[] {
  if (filter === undefined) return []
  return filter.kind === 'and' ? filter.parts.flatMap(conjunctsOf) : [filter]
}

/** The fields that a filter names. */
export function referencesOf(filter: Filter): readonly Reference[] {
  if (filter.kind === 'test') return [filter.reference]
  return filter.kind === 'not' ? referencesOf(filter.part) : filter.parts.flatMap(referencesOf)
}

function testOf(test: Test, scope: Scope): string {
  const expression = scope.expression(test.reference)
  if (test.op === 'exists') return existence(expression, test.value === true, scope.dialect)
  if (test.numeric) return numericTest(test, expression, scope)
  if (expression.type === 'text') return textTest(test, expression, scope)
  const rounded = expression.type === 'time' ? onTick(test, scope.dialect) : test
  const sql = rounded === undefined ? never : comparison(rounded, expression, scope)
  return expression.nullable ? `coalesce(${sql}, false)` : sql
}

function existence(expression: Expression, wanted: boolean, dialect: Dialect): string {
  const known = isKnown(expression, dialect)
  return wanted ? `(${known})` : `NOT (${known})`
}

function isKnown(expression: Expression, dialect: Dialect): string {
  const { sql, type, nullable } = expression
  if (nullable) return `${sql} IS NOT NULL`
  if (type === 'text') return `${sql} != ''`
  return type === 'list' || type === 'json' ? dialect.hasElements(expression) : '1 = 1'
}

/**
 * Tests text. Unknown text is stored as the empty text and must match nothing. Only `lt`, `lte` and
 * comparisons with the empty text itself have to say so; all others stay plain, for the indexes.
 */
function textTest(test: Test, expression: Expression, scope: Scope): string {
  const { op, value } = test
  if (op === 'in') {
    const known = (value as readonly string[]).filter((each) => each !== '')
    return known.length === 0 ? never : scope.dialect.among(scope.params, expression, known)
  }
  const isBelow = op === 'lt' || op === 'lte'
  if (value === '') {
    return isBelow || op === 'eq' ? never : `(${isKnown(expression, scope.dialect)})`
  }
  const sql = comparison(test, expression, scope)
  if (!isBelow || expression.required) return sql
  return `(${sql} AND ${isKnown(expression, scope.dialect)})`
}

const never = '1 = 0'

/**
 * Rounds an instant to a time step of the store, so that the test holds for the same times; the
 * store would round to the nearest step. Undefined when no time can be equal to the instant.
 */
function onTick(test: Test, dialect: Dialect): Test | undefined {
  const instant = BigInt(test.value as bigint)
  const next = nextTick(instant, dialect)
  if (next === instant) return test
  if (test.op === 'eq') return undefined
  const isUpper = test.op === 'lt' || test.op === 'gte'
  return { ...test, value: isUpper ? next : next - dialect.tick_ns }
}

const signs = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

function comparison(test: Test, expression: Expression, { dialect, params }: Scope): string {
  const { op, value } = test
  if (op === 'in') return dialect.among(params, expression, value as readonly Scalar[])
  const placeholder = dialect.value(params, expression.type, value as Scalar)
  if (op === 'contains' || op === 'starts_with')
    return dialect.textTest(op, expression, placeholder)
  if (op === 'exists') return ''
  const order = expression.type === 'text' && op !== 'eq' ? dialect.text_order : ''
  return `${expression.sql} ${signs[op]} ${placeholder}${order}`
}

function numericTest(test: Test, { sql }: Expression, scope: Scope): string {
  const { dialect } = scope
  const number: Expression = { sql: dialect.numberFrom(sql), type: 'float', nullable: true }
  return `coalesce(${comparison(test, number, scope)}, false)`
}
