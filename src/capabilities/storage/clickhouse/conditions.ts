import { type ProjectId, parseProjectId } from '../../../model/project-id.ts'
import type { QueryParam, QueryParams } from '../../../platform/columnar/index.ts'
import type { OpenWindow } from '../contract.ts'

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

declare const restricted: unique symbol

/**
 * A condition that selects only rows of these projects. Only `ofProject` and `anyOf` make one, and
 * changes of rows take no other: a DELETE without its project is a type error.
 */
export type ProjectCondition = Condition & {
  readonly projects: readonly ProjectId[]
  readonly [restricted]: true
}

/** Selects the rows of a project that match all of these conditions. */
export function ofProject(
  project_id: string,
  ...conditions: readonly (Condition | undefined)[]
): ProjectCondition {
  const project = parseProjectId(project_id)
  const { sql, params } = allOf([{ sql: 'project_id = {project:UUID}', params: {} }, ...conditions])
  return restrict([project], { sql, params: { ...params, project } })
}

/** Joins conditions with OR and renames their parameters, so that names are unique. */
export function anyOf(conditions: readonly ProjectCondition[]): ProjectCondition {
  const [first] = conditions
  if (conditions.length === 1 && first !== undefined) return first
  const params: Record<string, QueryParam> = {}
  const sql = conditions.map((condition, at) => {
    for (const [name, value] of Object.entries(condition.params)) params[`c${at}_${name}`] = value
    return `(${condition.sql.replace(/\{(\w+):/g, `{c${at}_$1:`)})`
  })
  const projects = new Set(conditions.flatMap((condition) => condition.projects))
  return restrict([...projects], { sql: sql.join(' OR '), params })
}

function restrict(projects: readonly ProjectId[], condition: Condition): ProjectCondition {
  return { ...condition, projects } as ProjectCondition
}

/** Selects rows of one project and trace. */
export function ofTrace(projectId: string, traceId: string): Condition {
  return {
    sql: 'project_id = {project:UUID} AND trace_id = {trace:UUID}',
    params: { project: projectId, trace: traceId },
  }
}

/** Selects rows whose `time` is in the window. */
export function inWindow({ from, to }: OpenWindow): Condition {
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
