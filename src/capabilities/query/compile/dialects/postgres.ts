import { isoFromNs } from '../../../../kernel/time.ts'
import type { FieldType } from '../../language/field.ts'
import type { QueryWindow } from '../../language/page-query.ts'
import type { Scalar } from '../../language/values.ts'
import {
  type Dialect,
  type Direction,
  type Expression,
  type PlainMeasure,
  type SortExpression,
  type SortRequest,
  sortsUnknownFirst,
} from '../dialect.ts'
import { collectParams, type KeyKind, type Params } from '../statement.ts'

/**
 * PostgreSQL SQL. Parameters are `$1`. Text and ids sort as in ClickHouse, so a cursor is valid in
 * both stores.
 */
export const postgres: Dialect = dialectWith({
  type: 'timestamptz',
  tick_ns: 1_000n,
  epoch: "'epoch'::timestamptz",
  param: (ns) => isoFromNs(ns),
  nanoseconds: (sql) => `((extract(epoch from ${sql}) * 1000000)::bigint * 1000)`,
})

/** How times are stored. */
type Times = {
  type: string
  tick_ns: bigint
  epoch: string
  param: (ns: bigint) => Scalar
  nanoseconds: (sql: string) => string
}

const inNanoseconds: Times = {
  type: 'bigint',
  tick_ns: 1n,
  epoch: '0',
  param: (ns) => ns,
  nanoseconds: (sql) => `(${sql})`,
}

function dialectWith(times: Times): Dialect {
  const value = (params: Params, type: FieldType, given: Scalar) =>
    type === 'time'
      ? params.add(times.param(BigInt(given)), times.type)
      : params.add(given, typeNames[type])
  return {
    ...dialectWithoutTimes(),
    forSource: ({ times_in_ns }) => (times_in_ns ? dialectWith(inNanoseconds) : postgres),
    value,
    tick_ns: times.tick_ns,
    months: (params, time, window) => {
      const { from, to } = monthsAround(window)
      return [`${time} >= ${value(params, 'time', from)}`, `${time} < ${value(params, 'time', to)}`]
    },
    output: (expression) => output(expression, times),
    sortKeys: (expression, how) => sortKeys(expression, how, times),
    position: (params, kind, text) => position(params, kind, text, value),
    nanoseconds: times.nanoseconds,
  }
}

/** The members of a dialect that depend on how times are stored. */
type TimeMember =
  | 'forSource'
  | 'value'
  | 'tick_ns'
  | 'months'
  | 'output'
  | 'sortKeys'
  | 'position'
  | 'nanoseconds'

function dialectWithoutTimes(): Omit<Dialect, TimeMember> {
  return {
    store: 'postgres',
    param_name: (at) => `$${at + 1}`,
    params: () => collectParams((at, type) => `$${at + 1}::${type}`),
    project: (params, project_id) => params.add(project_id, 'uuid'),
    integer: (params, number) => params.add(number, 'bigint'),
    among: (params, { sql, type }, values) =>
      `${sql} = any(${params.add(values, `${typeNames[type]}[]`)})`,
    textTest: (op, { sql, type }, placeholder) => {
      if (type === 'list') return `${placeholder} = any(${sql})`
      if (op === 'starts_with') return `starts_with(${sql}, ${placeholder})`
      return `strpos(${sql}, ${placeholder}) > 0`
    },
    hasElements: ({ sql, type }) =>
      `${type === 'json' ? 'jsonb_array_length' : 'cardinality'}(${sql}) > 0`,
    latestRows: ({
      columns,
      table,
      where,
      by,
    }) => `SELECT DISTINCT ON (${by}) ${columns} FROM ${table}
    WHERE ${where.join('\n    AND ')}
    ORDER BY ${by}, ingested_at DESC, message_id DESC`,
    wholeMap: (map) => `coalesce(${map}, '{}')`,
    firstKnown: (first, second) => `coalesce(nullif(${first}, ''), ${second})`,
    in_subquery: 'IN',
    text_order: ' collate "C"',
    groupOrder,
    mapText: (map, key) => `coalesce(${map} ->> ${key}, '')`,
    numberFrom: (sql) =>
      `case when ${sql} ~ '^-?[0-9]{1,18}([.][0-9]{1,18})?$' then (${sql})::float8 end`,
    measure,
    share: (condition) => `count(*) filter (where ${condition})::float8 / nullif(count(*), 0)`,
    floor: (number, { width, offset }) =>
      `((${number} - ${offset}) / ${width} * ${width} + ${offset})`,
    quotient: (dividend, divisor) => `(${dividend})::float8 / (${divisor})::float8`,
  }
}

const typeNames: Readonly<Record<FieldType, string>> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  decimal: 'numeric',
  float: 'float8',
  time: 'bigint',
  bool: 'boolean',
  list: 'text',
  json: 'text',
}

function output({ sql, type }: Expression, times: Times): string {
  if (type === 'time') return `${times.nanoseconds(sql)}::text`
  return type === 'decimal' || type === 'integer' ? `(${sql})::text` : sql
}

function zeroOf(type: FieldType, times: Times): string {
  return type === 'time' ? times.epoch : '0'
}

function sortKeys(
  expression: Expression,
  { whole, direction }: SortRequest,
  times: Times,
): SortExpression[] {
  const { sql, type, nullable } = expression
  const known = nullable ? `coalesce(${sql}, ${zeroOf(type, times)})` : sql
  const key = sortKey(known, type, whole)
  const sort: SortExpression = { sql: key, read: keyRead(known, key, { type, times }), kind: type }
  if (nullable) return [unknownLast(`(${sql} is null)`), sort]
  return sortsUnknownFirst(expression, direction) ? [unknownLast(`(${sql} = '')`), sort] : [sort]
}

function unknownLast(condition: string): SortExpression {
  const flag = `${condition}::integer`
  return { sql: flag, read: `${flag}::text`, kind: 'null_flag', unknown_last: true }
}

function groupOrder(expression: Expression, direction: Direction): string {
  const { sql, type } = expression
  const key = sortsUnknownFirst(expression, direction) ? `nullif(${sql}, '')` : sql
  return `${sortKey(key, type, true)} ${direction.toUpperCase()} NULLS LAST`
}

function sortKey(sql: string, type: FieldType, whole: boolean): string {
  if (type === 'text') return `${whole ? sql : `left(${sql}, 256)`} collate "C"`
  return type === 'uuid' ? uuidOrder(sql) : sql
}

/** Sorts like ClickHouse, which compares the last eight bytes of a UUID first. */
function uuidOrder(sql: string): string {
  return `(right(${sql}::text, 17) || ${sql}::text) collate "C"`
}

/** Returns a sort key as text for a cursor: floats as their bits, like ClickHouse's dialect. */
function keyRead(
  sql: string,
  key: string,
  { type, times }: { type: FieldType; times: Times },
): string {
  if (type === 'time') return `${times.nanoseconds(sql)}::text`
  if (type === 'uuid') return `${sql}::text`
  if (type !== 'float') return `(${key})::text`
  const bits = `('x' || encode(float8send((${sql})::float8), 'hex'))::bit(64)::bigint`
  return `(${bits}::numeric + case when ${sql} < 0 then 18446744073709551616 else 0 end)::text`
}

/** Digits of a number that surely fits into a bigint. */
const maxBigintDigits = 18

function position(params: Params, kind: KeyKind, text: string, value: Dialect['value']): string {
  if (kind === 'null_flag') return params.add(text, 'integer')
  if (kind === 'uuid') return uuidOrder(params.add(text, 'uuid'))
  if (kind === 'float') return params.add(floatFrom(text), 'float8')
  // A sum can exceed 64 bits. Shorter numbers stay bigint, which indexes need.
  if (kind === 'integer' && text.length > maxBigintDigits) return params.add(text, 'numeric')
  return value(params, kind, kind === 'time' ? BigInt(text) : text)
}

const levels = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99' } as const

function measure(fn: PlainMeasure, { sql, type }: Expression): string {
  switch (fn) {
    case 'count_distinct':
      return `count(distinct ${sql})${type === 'text' ? ` filter (where ${sql} <> '')` : ''}`
    case 'sum':
      return `coalesce(sum(${sql}), 0)`
    case 'min':
    case 'max':
      return `${fn}(${sql})`
    case 'avg':
      return type === 'decimal'
        ? `trunc(sum(${sql}) / nullif(count(${sql}), 0), 9)`
        : averageOf(sql)
    default:
      return percentile(levels[fn], { sql, type })
  }
}

function averageOf(sql: string): string {
  return `avg((${sql})::float8)`
}

function percentile(level: string, { sql, type }: Expression): string {
  const exact = `percentile_cont(${level}) within group (order by (${sql})::float8)`
  return type === 'decimal' ? `round((${exact})::numeric, 9)` : exact
}

/** Returns the float with these bits, given as an unsigned decimal number. */
function floatFrom(digits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt.asUintN(64, BigInt(digits)))
  return view.getFloat64(0)
}

const ns_per_ms = 1_000_000n

/** Widens a window to whole months. */
function monthsAround({ from, to }: QueryWindow): QueryWindow {
  return { from: monthAt(from, 0), to: monthAt(to, 1) }
}

function monthAt(instant: bigint, months: number): bigint {
  const date = new Date(Number(instant / ns_per_ms))
  return BigInt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)) * ns_per_ms
}
