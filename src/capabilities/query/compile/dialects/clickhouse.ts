import type { FieldType } from '../../language/field.ts'
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
import { collectParams, type Params } from '../statement.ts'

/** ClickHouse SQL. Parameters are `{p0: Type}`. */
export const clickhouse: Dialect = {
  store: 'clickhouse',
  forSource: () => clickhouse,
  tick_ns: 1n,
  param_name: (at) => `p${at}`,
  params: () => collectParams((at, type) => `{p${at}:${type}}`),
  project: (params, project_id) => params.add(project_id, 'UUID'),
  value,
  integer: (params, number) => params.add(number, 'Int64'),
  among,
  textTest: (op, { sql, type }, placeholder) => {
    if (type === 'list') return `has(${sql}, ${placeholder})`
    if (op === 'starts_with') return `startsWith(${sql}, ${placeholder})`
    return `position(${sql}, ${placeholder}) > 0`
  },
  hasElements: ({ sql }) => `notEmpty(${sql})`,
  months: (params, time, window) => {
    const from = instant(params, window.from)
    const to = instant(params, window.to)
    return [`toYYYYMM(${time}) >= toYYYYMM(${from})`, `toYYYYMM(${time}) <= toYYYYMM(${to})`]
  },
  latestRows: ({ columns, table, where, by }) => `SELECT ${columns} FROM ${table}
  WHERE ${where.join('\n    AND ')}
  ORDER BY ingested_at DESC, message_id DESC
  LIMIT 1 BY ${by}`,
  wholeMap: (map) => map,
  firstKnown: (first, second) => `if(${first} != '', ${first}, ${second})`,
  in_subquery: 'GLOBAL IN',
  text_order: '',
  mapText: (map, key) => `${map}[${key}]`,
  numberFrom: (sql) =>
    `if(match(${sql}, '^-?[0-9]{1,18}([.][0-9]{1,18})?$'), toFloat64OrNull(${sql}), NULL)`,
  output,
  sortKeys,
  groupOrder,
  position: (params, kind, text) => {
    if (kind === 'null_flag') return params.add(text, 'UInt8')
    // A float goes as its bits: text may parse to a neighbouring number.
    if (kind === 'float') return `reinterpretAsFloat64(${params.add(text, 'UInt64')})`
    if (kind === 'time') return instant(params, BigInt(text))
    // A sum can exceed 64 bits.
    if (kind === 'integer') return params.add(text, 'Int128')
    return params.add(text, typeNames[kind])
  },
  measure,
  share: (condition) => `countIf(${condition}) / count()`,
  nanoseconds: (time) => `toUnixTimestamp64Nano(${time})`,
  floor: (number, { width, offset }) =>
    `(intDiv(${number} - ${offset}, ${width}) * ${width} + ${offset})`,
  quotient: (dividend, divisor) => `toFloat64(${dividend}) / (${divisor})`,
}

const typeNames: Readonly<Record<FieldType, string>> = {
  text: 'String',
  uuid: 'UUID',
  integer: 'Int64',
  decimal: 'Decimal(38, 9)',
  float: 'Float64',
  time: 'Int64',
  bool: 'Bool',
  list: 'String',
  json: 'String',
}

function instant(params: Params, nanoseconds: bigint): string {
  return `fromUnixTimestamp64Nano(${params.add(nanoseconds, 'Int64')}, 'UTC')`
}

function value(params: Params, type: FieldType, given: Scalar): string {
  return type === 'time' ? instant(params, BigInt(given)) : params.add(given, typeNames[type])
}

function among(params: Params, { sql, type }: Expression, values: readonly Scalar[]): string {
  return `${sql} IN ${params.add(values, `Array(${typeNames[type]})`)}`
}

function output({ sql, type }: Expression): string {
  if (type === 'time') return `toUnixTimestamp64Nano(${sql})`
  return type === 'decimal' ? `toString(${sql})` : sql
}

const zeroes: Readonly<Partial<Record<FieldType, string>>> = {
  integer: '0',
  float: '0',
  decimal: 'toDecimal64(0, 9)',
  time: "toDateTime64(0, 9, 'UTC')",
}

function sortKeys(expression: Expression, { whole, direction }: SortRequest): SortExpression[] {
  const { sql, type, nullable } = expression
  const known = nullable ? `ifNull(${sql}, ${zeroes[type]})` : sql
  const key = type === 'text' && !whole ? `substringUTF8(${sql}, 1, 256)` : known
  const sort: SortExpression = { sql: key, read: keyRead(key, type), kind: type }
  if (nullable) return [unknownLast(`isNull(${sql})`), sort]
  return sortsUnknownFirst(expression, direction) ? [unknownLast(`empty(${sql})`), sort] : [sort]
}

function unknownLast(flag: string): SortExpression {
  return { sql: flag, read: flag, kind: 'null_flag', unknown_last: true }
}

function groupOrder(expression: Expression, direction: Direction): string {
  const { sql } = expression
  const key = sortsUnknownFirst(expression, direction) ? `nullIf(${sql}, '')` : sql
  return `${key} ${direction.toUpperCase()} NULLS LAST`
}

function keyRead(sql: string, type: FieldType): string {
  if (type === 'time') return `toUnixTimestamp64Nano(${sql})`
  if (type === 'float') return `reinterpretAsUInt64(toFloat64(${sql}))`
  return `toString(${sql})`
}

const levels = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99' } as const

/** Compiles a measure. Percentiles are exact and interpolate, like PostgreSQL's percentile_cont. */
function measure(fn: PlainMeasure, { sql, type }: Expression): string {
  const unknown = type === 'text' ? `, ${sql} != ''` : ''
  switch (fn) {
    case 'count_distinct':
      return unknown === '' ? `uniqExact(${sql})` : `uniqExactIf(${sql}${unknown})`
    case 'sum':
      // A sum of 64 bits would begin at 0 again above 2^64.
      return `ifNull(sum(${type === 'integer' ? `toInt128(${sql})` : sql}), 0)`
    case 'avg':
      return type === 'decimal'
        ? `(sum(${sql}) / nullIf(count(${sql}), 0))`
        : `avgOrNull(toFloat64(${sql}))`
    case 'min':
    case 'max':
      return `${fn}OrNull(${sql})`
    default:
      return percentile(levels[fn], { sql, type })
  }
}

function percentile(level: string, { sql, type }: Expression): string {
  const exact = `quantileExactInclusiveOrNull(${level})(toFloat64(${sql}))`
  return type === 'decimal' ? `toDecimal64OrNull(toString(round(${exact}, 9)), 9)` : exact
}
