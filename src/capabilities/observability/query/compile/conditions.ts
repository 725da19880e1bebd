import type { Filter, Test } from '../language/filter.ts'
import type { Reference } from '../language/reference.ts'
import type { Scalar } from '../language/values.ts'
import type { Dialect, Expression } from './dialect.ts'
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
  const sql = comparison(test, expression, scope)
  return expression.nullable ? `coalesce(${sql}, false)` : sql
}

function existence(expression: Expression, wanted: boolean, dialect: Dialect): string {
  const { sql, type, nullable } = expression
  const known = () => {
    if (nullable) return `${sql} IS NOT NULL`
    if (type === 'text') return `${sql} != ''`
    return type === 'list' || type === 'json' ? dialect.hasElements(expression) : '1 = 1'
  }
  return wanted ? `(${known()})` : `NOT (${known()})`
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
