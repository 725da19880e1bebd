import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { TimeWindow } from '../contract.ts'

/** A condition of a WHERE, and the parameters that its text names. */
export type Condition = { sql: string; params: QueryParams }

/** Joins conditions with AND; those that are undefined narrow nothing. */
export function allOf(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined)
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
    params: Object.assign({}, ...given.map(({ params }) => params)),
  }
}

/** A condition with one parameter; undefined when there is no value to compare with. */
export function when<Value extends string>(
  value: Value | undefined,
  condition: (value: Value) => Condition,
): Condition | undefined {
  return value === undefined ? undefined : condition(value)
}

/** Rows of one project and trace. */
export function ofTrace(projectId: string, traceId: string): Condition {
  return {
    sql: 'project_id = {project:UUID} AND trace_id = {trace:UUID}',
    params: { project: projectId, trace: traceId },
  }
}

/** Rows whose `time` is in the window. */
export function inWindow({ from, to }: TimeWindow): Condition {
  return allOf([
    from === undefined ? undefined : { sql: `time >= ${nanoParameter('from')}`, params: { from } },
    to === undefined ? undefined : { sql: `time < ${nanoParameter('to')}`, params: { to } },
  ])
}

/**
 * Rows behind a position in a list that is sorted by `time` and these columns. The time stands for
 * itself too, since parts and granules are skipped by that.
 */
export function behind(
  order: 'asc' | 'desc',
  columns: Readonly<Record<string, 'String' | 'UUID'>>,
  after: ({ time: bigint } & Record<string, unknown>) | undefined,
): Condition | undefined {
  if (after === undefined) return undefined
  const names = Object.keys(columns)
  const place = names.map((name) => `{after_${name}:${columns[name]}}`).join(', ')
  const [beyond, notBefore] = order === 'asc' ? ['>', '>='] : ['<', '<=']
  const time = nanoParameter('after_time')
  return {
    sql: `time ${notBefore} ${time} AND (time, ${names.join(', ')}) ${beyond} (${time}, ${place})`,
    params: Object.fromEntries([
      ['after_time', after.time],
      ...names.map((name) => [`after_${name}`, String(after[name])]),
    ]),
  }
}

/** A parameter of nanoseconds since 1970, as a DateTime64(9). */
export function nanoParameter(name: string): string {
  return `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`
}

/** `time, a, b`, each with its direction. */
export function sortedBy(columns: readonly string[], order: 'asc' | 'desc'): string {
  return columns.map((column) => `${column} ${order}`).join(', ')
}

/** Of versions that lie side by side the one that was written last comes first. */
export const latestFirst = 'ingested_at DESC, message_id DESC'

/** Rows of one page, at most. */
export const rows_max = 10_000
