import type { Entity, Field, Reference, Source } from '../language/field.ts'
import type { Filter, Test } from '../language/filter.ts'
import type { Query, QueryWindow } from '../language/page-query.ts'
import type { Scalar } from '../language/values.ts'
import { type Dialect, type Expression, nextTick } from './dialect.ts'
import type { Params } from './statement.ts'

/** The context of compiling a condition: the dialect, the parameters, and the fields' SQL. */
export type Scope = {
  dialect: Dialect
  params: Params
  expression: (reference: Reference) => Expression
}

/** Compiles a filter to a condition that is true or false for every row, never null. */
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
      return compileTest(filter, scope)
  }
}

/** Returns the conditions of a filter that must all hold. */
export function conjunctsOf(filter: Filter | undefined): readonly Filter[] {
  if (filter === undefined) return []
  return filter.kind === 'and' ? filter.parts.flatMap(conjunctsOf) : [filter]
}

/** Returns the fields that a filter names. */
export function referencesOf(filter: Filter): readonly Reference[] {
  if (filter.kind === 'test') return [filter.reference]
  return filter.kind === 'not' ? referencesOf(filter.part) : filter.parts.flatMap(referencesOf)
}

function compileTest(test: Test, scope: Scope): string {
  const expression = scope.expression(test.reference)
  if (test.op === 'exists') return compileExists(expression, test.value === true, scope.dialect)
  if (test.numeric) return compileNumericTest(test, expression, scope)
  if (expression.type === 'text') return compileTextTest(test, expression, scope)
  const rounded = expression.type === 'time' ? roundToTick(test, scope.dialect) : test
  const sql = rounded === undefined ? noRow : compileComparison(rounded, expression, scope)
  return expression.nullable ? `coalesce(${sql}, false)` : sql
}

function compileExists(expression: Expression, wanted: boolean, dialect: Dialect): string {
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
 * Compiles a test of text. Unknown text is stored as the empty text and must match nothing, which
 * only `lt`, `lte` and comparisons with '' need to state. All others stay plain, for the indexes.
 */
function compileTextTest(test: Test, expression: Expression, scope: Scope): string {
  const { op, value } = test
  if (op === 'in') {
    const known = (value as readonly string[]).filter((each) => each !== '')
    return known.length === 0 ? noRow : scope.dialect.among(scope.params, expression, known)
  }
  const isBelow = op === 'lt' || op === 'lte'
  if (value === '') {
    return isBelow || op === 'eq' ? noRow : `(${isKnown(expression, scope.dialect)})`
  }
  const sql = compileComparison(test, expression, scope)
  if (!isBelow || expression.required) return sql
  return `(${sql} AND ${isKnown(expression, scope.dialect)})`
}

const noRow = '1 = 0'

/**
 * Rounds an instant to a time step of the store so that the test matches the same times; the
 * store would round to the nearest step. Returns undefined if no stored time equals the instant.
 */
function roundToTick(test: Test, dialect: Dialect): Test | undefined {
  const instant = BigInt(test.value as bigint)
  const next = nextTick(instant, dialect)
  if (next === instant) return test
  if (test.op === 'eq') return undefined
  const isUpper = test.op === 'lt' || test.op === 'gte'
  return { ...test, value: isUpper ? next : next - dialect.tick_ns }
}

const signs = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

function compileComparison(test: Test, expression: Expression, { dialect, params }: Scope): string {
  const { op, value } = test
  if (op === 'in') return dialect.among(params, expression, value as readonly Scalar[])
  const placeholder = dialect.value(params, expression.type, value as Scalar)
  if (op === 'contains' || op === 'starts_with')
    return dialect.textTest(op, expression, placeholder)
  if (op === 'exists') return ''
  const order = expression.type === 'text' && op !== 'eq' ? dialect.text_order : ''
  return `${expression.sql} ${signs[op]} ${placeholder}${order}`
}

function compileNumericTest(test: Test, { sql }: Expression, scope: Scope): string {
  const { dialect } = scope
  const number: Expression = { sql: dialect.numberFrom(sql), type: 'float', nullable: true }
  return `coalesce(${compileComparison(test, number, scope)}, false)`
}

/** Rows of restored slices: the table, and the condition that selects the slices. */
export type RestoredRows = { table: string; condition: string }

/** Returns the restored rows that a statement also reads, if any. */
export function restoredIn(
  { slices = [], params }: { slices?: readonly string[] | undefined; params: Params },
  table: string | undefined,
): RestoredRows | undefined {
  if (slices.length === 0 || table === undefined) return undefined
  return { table, condition: `slice_id IN ${params.add(slices, 'Array(UUID)')}` }
}

/** Selects columns of all versions of rows, live and restored. */
export function columnsWithRestored(about: {
  columns: string
  table: string
  restored: RestoredRows | undefined
  where: readonly string[]
}): string {
  const { columns, table, restored, where } = about
  const live = `SELECT ${columns} FROM ${table} WHERE ${where.join(' AND ')}`
  if (restored === undefined) return live
  const conditions = [...where, restored.condition].join(' AND ')
  return `${live}
      UNION ALL SELECT ${columns} FROM ${restored.table} WHERE ${conditions}`
}

/** The context that all parts of one statement share. */
export type Frame = {
  dialect: Dialect
  params: Params
  project_id: string
  entity: Entity
  window: QueryWindow
  /** Restored slices to read as well. */
  slices?: readonly string[] | undefined
}

/** Returns the entity's tables in the dialect's store. Throws RangeError without any. */
export function sourceOf(entity: Entity, { store }: Dialect): Source {
  const source = entity.stores[store]
  if (source === undefined) throw new RangeError(`${entity.name} are not in ${store}`)
  return source
}

/** Returns the scope of the table's own columns, for conditions on all versions of a record. */
export function columnScope({ dialect, params }: Frame): Scope {
  return {
    dialect,
    params,
    expression: ({ field, map_key }) => {
      if (map_key === undefined) {
        return expressionOf(field, field.derived?.[dialect.store] ?? field.name)
      }
      const text = dialect.mapText(field.name, dialect.value(params, 'text', map_key))
      return expressionOf(field, field.type === 'float' ? dialect.numberFrom(text) : text)
    },
  }
}

/** Returns the window as conditions on columns: whole months if a record's time may change. */
export function windowConditions({ dialect, params, entity, window }: Frame): string[] {
  const { time } = entity
  if (entity.time_moves) return dialect.months(params, time, window)
  const from = dialect.value(params, 'time', nextTick(window.from, dialect))
  const to = dialect.value(params, 'time', nextTick(window.to, dialect))
  return [`${time} >= ${from}`, `${time} < ${to}`]
}

/** Returns SQL that yields a field's values as an expression of the field's type. */
export function expressionOf({ type, nullable, required }: Field, sql: string): Expression {
  return { sql, type, ...(nullable && { nullable }), ...(required && { required }) }
}

/**
 * Splits a filter. `inside`: conditions on the identity, which no later version changes; they
 * narrow the rows to read. `late`: all others, tested on each record's latest version alone, since
 * an older version that matches must not replace it.
 */
export function splitFilter({ entity, where }: Pick<Query, 'entity' | 'where'>) {
  const conjuncts = conjunctsOf(where)
  const isImmutable = (filter: Filter) =>
    referencesOf(filter).every((each) => inIdentity(entity, each))
  return {
    inside: conjuncts.filter(isImmutable),
    late: conjuncts.filter((filter) => !isImmutable(filter)),
  }
}

function inIdentity({ identity }: Entity, { name, map_key }: Reference): boolean {
  return map_key === undefined && identity.includes(name)
}

/** Compiles each of several conditions. */
export function compileAll(late: readonly Filter[], scope: Scope): string[] {
  return late.map((filter) => conditionOf(filter, scope))
}

/** Returns the window as conditions on the latest version, for records whose time may change. */
export function exactWindow({ entity }: Frame, window: QueryWindow): readonly Filter[] {
  const field = entity.fields[entity.time]
  if (!entity.time_moves || entity.computed || field === undefined) return []
  const reference: Reference = { name: entity.time, field }
  return [
    { kind: 'test', reference, op: 'gte', value: window.from },
    { kind: 'test', reference, op: 'lt', value: window.to },
  ]
}

/**
 * Returns conditions that spare reading most of a table: only records of which some version meets a
 * condition on an indexed column. The latest version is tested again, so answers do not change.
 */
export function narrowingOf(frame: Frame, late: readonly Filter[]): string[] {
  const { entity, dialect, params } = frame
  const source = sourceOf(entity, dialect)
  if (entity.computed || !source.versioned) return []
  const identity = entity.identity.join(', ')
  return late.filter(isIndexLookUp).map((filter) => {
    const where = [
      `project_id = ${dialect.project(params, frame.project_id)}`,
      ...windowConditions(frame),
      conditionOf(filter, columnScope(frame)),
    ]
    const { table } = source
    const restored = restoredIn(frame, source.restored)
    return `(${identity}) ${dialect.in_subquery} (
      ${columnsWithRestored({ columns: identity, table, restored, where })}
    )`
  })
}

function isIndexLookUp(filter: Filter): filter is Test {
  if (filter.kind !== 'test' || (filter.op !== 'eq' && filter.op !== 'in')) return false
  return filter.reference.field.indexed === true && filter.reference.map_key === undefined
}
