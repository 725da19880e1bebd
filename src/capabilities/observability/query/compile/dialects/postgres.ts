import { isoFromNs } from '../../../../../kernel/time.ts'
import type { FieldType } from '../../language/field.ts'
import type { Scalar } from '../../language/values.ts'
import type { Dialect, Expression, PlainMeasure, SortExpression } from '../dialect.ts'
import { collectParams, type Params } from '../statement.ts'

/** How PostgreSQL writes it. Parameters are `$1`; text sorts by its bytes, as in ClickHouse. */
export const postgres: Dialect = {
  store: 'postgres',
  params: () => collectParams((at, type) => `$${at + 1}::${type}`),
  project: (params, project_id) => params.add(project_id, 'uuid'),
  value,
  integer: (params, number) => params.add(number, 'bigint'),
  among: (params, { sql, type }, values) =>
    `${sql} = any(${params.add(values, `${typeNames[type]}[]`)})`,
  textTest: (op, { sql, type }, placeholder) => {
    if (type === 'list') return `${placeholder} = any(${sql})`
    if (op === 'starts_with') return `starts_with(${sql}, ${placeholder})`
    return `strpos(${sql}, ${placeholder}) > 0`
  },
  hasElements: (sql) => `cardinality(${sql}) > 0`,
  in_subquery: 'IN',
  text_order: ' collate "C"',
  mapText: (map, key) => `coalesce(${map} ->> ${key}, '')`,
  numberFrom: (sql) =>
    `case when ${sql} ~ '^-?[0-9]{1,18}([.][0-9]{1,18})?$' then (${sql})::float8 end`,
  shown,
  sortKeys,
  position: (params, kind, text) => {
    if (kind === 'null_flag') return params.add(text, 'integer')
    return value(params, kind, kind === 'time' ? BigInt(text) : text)
  },
  measure,
  share: (condition) => `count(*) filter (where ${condition})::float8 / nullif(count(*), 0)`,
  nanoseconds: (time) => `((extract(epoch from ${time}) * 1000000)::bigint * 1000)`,
  floor: (number, { width, offset }) =>
    `((${number} - ${offset}) / ${width} * ${width} + ${offset})`,
  quotient: (dividend, divisor) => `(${dividend})::float8 / (${divisor})::float8`,
}

const typeNames: Readonly<Record<FieldType, string>> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  decimal: 'numeric',
  float: 'float8',
  time: 'timestamptz',
  bool: 'boolean',
  list: 'text',
  json: 'text',
}

function value(params: Params, type: FieldType, given: Scalar): string {
  return params.add(type === 'time' ? isoFromNs(BigInt(given)) : given, typeNames[type])
}

function shown({ sql, type }: Expression): string {
  if (type === 'time') return `${postgres.nanoseconds(sql)}::text`
  return type === 'decimal' || type === 'integer' ? `(${sql})::text` : sql
}

const nothing: Readonly<Partial<Record<FieldType, string>>> = {
  integer: '0',
  float: '0',
  decimal: '0',
  time: "'epoch'::timestamptz",
}

function sortKeys({ sql, type, nullable }: Expression, whole: boolean): SortExpression[] {
  const known = nullable ? `coalesce(${sql}, ${nothing[type]})` : sql
  const text = `${whole ? sql : `left(${sql}, 256)`} collate "C"`
  const key = type === 'text' ? text : known
  const read = type === 'time' ? `${postgres.nanoseconds(key)}::text` : `(${key})::text`
  const sort: SortExpression = { sql: key, read, kind: type }
  if (!nullable) return [sort]
  const flag = `(${sql} is null)::integer`
  return [{ sql: flag, read: `${flag}::text`, kind: 'null_flag', unknown_last: true }, sort]
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
