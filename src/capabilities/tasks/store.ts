import type { SortPosition } from '../../model/list-query.ts'
import {
  type Kysely,
  type Selectable,
  sql,
  type TaskTables,
} from '../../platform/relational/index.ts'
import { markDue } from '../detection/index.ts'
import { afterPosition, allOf, type Fragment } from './sorted-page.ts'
import type { TaskState } from './task-state.ts'

/** A stored task, with what the client calls its conversation. */
export type TaskRow = Selectable<TaskTables['tasks']> & {
  conversation_external_id: string | null
}

/** What a list of tasks may be narrowed to. Instants are ISO 8601. */
export type TaskFilter = {
  state?: TaskState | undefined
  /** `now_ms - stalled_after_ms`, beside whether the task is to be stalled then or not. */
  stalled?: { is: boolean; idle_since: string } | undefined
  name?: string | undefined
  name_prefix?: string | undefined
  user_id?: string | undefined
  conversation_id?: string | undefined
  model?: string | undefined
  environment?: string | undefined
  release?: string | undefined
  implicit?: boolean | undefined
  has_errors?: boolean | undefined
  /** Tasks whose worst finding is at least that bad: 1 `info` to 5 `critical`. */
  worst_severity_min?: number | undefined
  /** Tasks with a finding, not withdrawn, of this kind, of this type. */
  finding_kind?: string | undefined
  finding_type?: string | undefined
  wasted_tokens_min?: number | undefined
  /** Decimal USD. */
  wasted_cost_usd_min?: string | undefined
  /** Tasks with activity at or after this instant. */
  from?: string | undefined
  /** Tasks that started before this instant. */
  to?: string | undefined
}

/** Columns that a list of tasks can be sorted by. */
export const taskSorts = [
  'last_activity_at',
  'started_at',
  'cost_usd',
  'total_tokens',
  'calls',
  'duration_ms',
  'worst_severity',
  'wasted_tokens',
  'wasted_cost_usd',
] as const
export type TaskSort = (typeof taskSorts)[number]

export type TaskPageRequest = {
  sort: TaskSort
  order: 'asc' | 'desc'
  after: SortPosition | undefined
  limit: number
}

/** One page of a project's tasks. Throws `store_unavailable`. */
export async function findTasks(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: TaskFilter,
  page: TaskPageRequest,
): Promise<TaskRow[]> {
  const { sort, order, after, limit } = page
  const column = sql.ref(`tasks.${sort}`)
  const position = after && afterPosition(column, sql.ref('tasks.task_id'), { order, after })
  return tasksWithConversations(db)
    .where(allOf([...conditionsOf(projectId, filter), position]))
    .orderBy(column, order)
    .orderBy('tasks.task_id', order)
    .limit(limit)
    .execute()
}

/** Counts tasks up to `limit`. Throws `store_unavailable`. */
export async function countTasks(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: TaskFilter,
  limit: number,
): Promise<number> {
  const counted = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('tasks')
        .select('task_id')
        .where(allOf(conditionsOf(projectId, filter)))
        .limit(limit)
        .as('found'),
    )
    .select((eb) => eb.fn.countAll<number>().as('tasks'))
    .executeTakeFirstOrThrow()
  return counted.tasks
}

/**
 * The task with one of these ids, the first of them that there is; or undefined. Throws
 * `store_unavailable`.
 */
export async function findTask(
  db: Kysely<TaskTables>,
  projectId: string,
  taskIds: readonly string[],
): Promise<TaskRow | undefined> {
  const rows = await tasksWithConversations(db)
    .where('tasks.project_id', '=', projectId)
    .where('tasks.task_id', 'in', taskIds)
    .execute()
  return taskIds.map((id) => rows.find((row) => row.task_id === id)).find((row) => row)
}

export type TaskEventRow = Selectable<TaskTables['task_events']>

/** What happened to a task, oldest first; at most `limit`. Throws `store_unavailable`. */
export async function findTaskEvents(
  db: Kysely<TaskTables>,
  projectId: string,
  taskId: string,
  limit: number,
): Promise<TaskEventRow[]> {
  return db
    .selectFrom('task_events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** An end of a task, as it is written. */
export type TaskEnd = {
  event_id: string
  state: Exclude<TaskState, 'running'>
  at: string
  actor: { kind: string; id: string }
  note: string | null
}

/**
 * Ends a running task and writes the event, in one transaction that holds the task's row: of two
 * contrary moves at once the second sees the first. Answers whether the task was running; one that
 * was not is left as it is. Throws `store_unavailable`.
 */
export async function endTask(
  db: Kysely<TaskTables>,
  projectId: string,
  taskId: string,
  end: TaskEnd,
): Promise<boolean> {
  const { state, at, actor, note } = end
  return db.transaction().execute(async (trx) => {
    const changed = await trx
      .updateTable('tasks')
      .set({ state, ended_at: at, ended_by: `${actor.kind}:${actor.id}`, end_note: note })
      .set({ updated_at: at })
      .where('project_id', '=', projectId)
      .where('task_id', '=', taskId)
      .where('state', '=', 'running')
      .where('implicit', '=', false)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) return false
    await trx
      .insertInto('task_events')
      .values({
        id: end.event_id,
        project_id: projectId,
        task_id: taskId,
        kind: state,
        at,
        actor_kind: actor.kind,
        actor_id: actor.id,
        note,
      })
      .execute()
    // An end tells more than a call: a task that failed, or one that was completed too early.
    await markDue(trx, [{ project_id: projectId, task_id: taskId }])
    return true
  })
}

/** Tasks by where they stand; `stalled` ones are `running` too. */
export type TaskStateCounts = Record<TaskState | 'stalled', number>

/** Counts a conversation's tasks by state. Throws `store_unavailable`. */
export async function countTaskStates(
  db: Kysely<TaskTables>,
  projectId: string,
  conversationId: string,
  idleSince: string,
): Promise<TaskStateCounts> {
  return db
    .selectFrom('tasks')
    .select([
      sql<number>`count(*) filter (where state = 'running')`.as('running'),
      sql<number>`count(*) filter (where state = 'completed')`.as('completed'),
      sql<number>`count(*) filter (where state = 'failed')`.as('failed'),
      sql<number>`count(*) filter (where ${isStalled(idleSince)})`.as('stalled'),
    ])
    .where('project_id', '=', projectId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow()
}

function tasksWithConversations(db: Kysely<TaskTables>) {
  return db
    .selectFrom('tasks')
    .leftJoin('conversations', (join) =>
      join
        .onRef('conversations.project_id', '=', 'tasks.project_id')
        .onRef('conversations.conversation_id', '=', 'tasks.conversation_id'),
    )
    .selectAll('tasks')
    .select('conversations.external_id as conversation_external_id')
}

function conditionsOf(
  projectId: string,
  filter: TaskFilter,
): readonly (Fragment<boolean> | undefined)[] {
  const equal = (column: string, value: string | boolean | undefined) =>
    value === undefined ? undefined : sql<boolean>`${sql.ref(`tasks.${column}`)} = ${value}`
  const { stalled, model, has_errors, name_prefix, from, to } = filter
  return [
    equal('project_id', projectId),
    equal('state', filter.state),
    equal('name', filter.name),
    equal('user_id', filter.user_id),
    equal('conversation_id', filter.conversation_id),
    equal('environment', filter.environment),
    equal('release', filter.release),
    equal('implicit', filter.implicit),
    stalled && sql<boolean>`${isStalled(stalled.idle_since)} = ${stalled.is}`,
    model === undefined ? undefined : sql<boolean>`tasks.models @> array[${model}]::text[]`,
    has_errors === undefined ? undefined : sql<boolean>`(tasks.errors > 0) = ${has_errors}`,
    name_prefix === undefined
      ? undefined
      : sql<boolean>`starts_with(lower(tasks.name), lower(${name_prefix}))`,
    ...findingConditions(filter),
    from === undefined ? undefined : sql<boolean>`tasks.last_activity_at >= ${from}`,
    to === undefined ? undefined : sql<boolean>`tasks.started_at < ${to}`,
  ]
}

function findingConditions(filter: TaskFilter): readonly (Fragment<boolean> | undefined)[] {
  const { finding_kind, finding_type } = filter
  const least = (column: string, value: string | number | undefined) =>
    value === undefined ? undefined : sql<boolean>`${sql.ref(`tasks.${column}`)} >= ${value}`
  const found =
    finding_kind === undefined && finding_type === undefined
      ? undefined
      : sql<boolean>`tasks.worst_severity > 0 and exists (
          select from findings where findings.project_id = tasks.project_id
            and findings.task_id = tasks.task_id and findings.state <> 'withdrawn'
            and findings.kind = coalesce(${finding_kind ?? null}, findings.kind)
            and findings.type = coalesce(${finding_type ?? null}, findings.type))`
  return [
    least('worst_severity', filter.worst_severity_min),
    least('wasted_tokens', filter.wasted_tokens_min),
    least('wasted_cost_usd', filter.wasted_cost_usd_min),
    found,
  ]
}

/** The same rule as `taskFrom` has for one task. */
function isStalled(idleSince: string) {
  return sql<boolean>`
    (tasks.state = 'running' and not tasks.implicit and tasks.last_activity_at < ${idleSince})`
}
