import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { TimeWindow } from '../contract.ts'

/** A WHERE condition and its parameters. */
export type Condition = { sql: string; params: QueryParams }

/** Joins conditions with AND. Undefined ones match all rows. */
export function allOf(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined)
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
    params: Object.assign({}, ...given.map(({ params }) => params)),
  }
}

/** Builds a condition for a value; undefined without a value. */
export function when<Value extends string>(
  value: Value | undefined,
  condition: (value: Value) => Condition,
): Condition | undefined {
  return value === undefined ? undefined : condition(value)
}

/** Selects rows of one project and trace. */
export function ofTrace(projectId: string, traceId: string): Condition {
  return {
    sql: 'project_id = {project:UUID} AND trace_id = {trace:UUID}',
    params: { project: projectId, trace: traceId },
  }
}

/** Selects rows whose `time` is in the window. */
export function inWindow({ from, to }: TimeWindow): Condition {
  return allOf([
    from === undefined ? undefined : { sql: `time >= ${nanoParameter('from')}`, params: { from } },
    to === undefined ? undefined : { sql: `time < ${nanoParameter('to')}`, params: { to } },
  ])
}

/**
 * Selects rows after a position in a list sorted by `time` and these columns. Also compares the
 * time alone, which lets ClickHouse skip parts and granules.
 */
export function afterPosition(
  order: 'asc' | 'desc',
  columns: Readonly<Record<string, 'String' | 'UUID'>>,
  after: ({ time: bigint } & Record<string, unknown>) | undefined,
): Condition | undefined {
  if (after === undefined) return undefined
  const names = Object.keys(columns)
  const position = names.map((name) => `{after_${name}:${columns[name]}}`).join(', ')
  const [afterSign, notBeforeSign] = order === 'asc' ? ['>', '>='] : ['<', '<=']
  const time = nanoParameter('after_time')
  return {
    sql: `time ${notBeforeSign} ${time} AND (time, ${names.join(', ')}) ${afterSign} (${time}, ${position})`,
    params: Object.fromEntries([
      ['after_time', after.time],
      ...names.map((name) => [`after_${name}`, String(after[name])]),
    ]),
  }
}

/** Returns a parameter of nanoseconds since 1970 as a DateTime64(9). */
export function nanoParameter(name: string): string {
  return `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`
}

/** Returns the columns of an ORDER BY, each with the direction. */
export function orderBy(columns: readonly string[], order: 'asc' | 'desc'): string {
  return columns.map((column) => `${column} ${order}`).join(', ')
}

/** Orders versions of a record, the latest first. */
export const latestFirst = 'ingested_at DESC, message_id DESC'

/** Maximum rows of one page. */
export const rows_max = 10_000
