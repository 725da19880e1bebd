import { noScore, type SortPosition } from '../../model/list-query.ts'
import {
  afterPosition,
  allOf,
  countUpTo,
  type Fragment,
  type Kysely,
  sql,
  type TaskTables,
} from '../../platform/relational/index.ts'
import { type TaskRow, type TaskState, tasksWithConversations } from './store.ts'

/** Filters of a list of tasks. Instants are ISO 8601. */
export type TaskFilter = {
  state?: TaskState | undefined
  /** Whether tasks have to be stalled; `idle_since` is `now_ms - stalledAfterMs`. */
  stalled?: { is: boolean; idle_since: string } | undefined
  name?: string | undefined
  name_prefix?: string | undefined
  user_id?: string | undefined
  conversation_id?: string | undefined
  model?: string | undefined
  environment?: string | undefined
  release?: string | undefined
  cluster_name?: string | undefined
  implicit?: boolean | undefined
  has_errors?: boolean | undefined
  /** Decimal USD. */
  cost_usd_min?: string | undefined
  total_tokens_min?: number | undefined
  duration_ms_min?: number | undefined
  /** Tasks with such a vote of an end user. */
  feedback?: FeedbackVote | undefined
  /** Least severity of the worst finding, 1 (`info`) to 5 (`critical`). */
  worst_severity_min?: number | undefined
  /** Tasks with a finding of this kind and type that is not withdrawn. */
  finding_kind?: string | undefined
  finding_type?: string | undefined
  wasted_tokens_min?: number | undefined
  /** Decimal USD. */
  wasted_cost_usd_min?: string | undefined
  /** Bounds of the trust score, both included; tasks without one are left out. */
  trust_min?: number | undefined
  trust_max?: number | undefined
  verification_state?: VerificationState | undefined
  /** Tasks with activity at or after this instant. */
  from?: string | undefined
  /** Tasks that started before this instant. */
  to?: string | undefined
}

/** Votes of end users that tasks can be listed by. */
export const feedbackVotes = ['positive', 'negative'] as const
type FeedbackVote = (typeof feedbackVotes)[number]

/** States of the newest verification of a task. */
export const verificationStates = ['not_verified', 'pending', 'verified', 'failed'] as const
type VerificationState = (typeof verificationStates)[number]

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
  'trust_score',
] as const
export type TaskSort = (typeof taskSorts)[number]

export type TaskPageRequest = {
  sort: TaskSort
  order: 'asc' | 'desc'
  after: SortPosition | undefined
  limit: number
}

/** Returns one page of a project's tasks. Throws `store_unavailable`. */
export async function findTasks(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: TaskFilter,
  page: TaskPageRequest,
): Promise<TaskRow[]> {
  if (page.sort === 'trust_score') return findTasksByTrust(db, projectId, filter, page)
  return findSorted(db, conditionsOf(projectId, filter), page)
}

/** Tasks without a score come last in either order; the index of scores leaves them out. */
async function findTasksByTrust(
  db: Kysely<TaskTables>,
  projectId: string,
  filter: TaskFilter,
  page: TaskPageRequest,
): Promise<TaskRow[]> {
  const { order, after, limit } = page
  const conditions = conditionsOf(projectId, filter)
  const isBehind = after?.value === noScore
  const scored = sql<boolean>`tasks.trust_score is not null`
  const first = isBehind ? [] : await findSorted(db, [...conditions, scored], page)
  if (first.length === limit) return first
  const id = sql.ref('tasks.task_id')
  const rest = await tasksWithConversations(db)
    .where(allOf([...conditions, sql<boolean>`tasks.trust_score is null`]))
    .$if(isBehind, (query) =>
      query.where(
        order === 'asc' ? sql<boolean>`${id} > ${after?.id}` : sql<boolean>`${id} < ${after?.id}`,
      ),
    )
    .orderBy('tasks.task_id', order)
    .limit(limit - first.length)
    .execute()
  return [...first, ...rest]
}

function findSorted(
  db: Kysely<TaskTables>,
  conditions: readonly (Fragment<boolean> | undefined)[],
  { sort, order, after, limit }: TaskPageRequest,
): Promise<TaskRow[]> {
  const column = sql.ref(`tasks.${sort}`)
  const position = after && afterPosition(column, sql.ref('tasks.task_id'), { order, after })
  return tasksWithConversations(db)
    .where(allOf([...conditions, position]))
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
  const found = db.selectFrom('tasks').where(allOf(conditionsOf(projectId, filter)))
  return countUpTo(db, found.select('task_id'), limit)
}

/** Numbers of tasks by state; `stalled` tasks also count as `running`. */
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
    equal('cluster_name', filter.cluster_name),
    equal('implicit', filter.implicit),
    stalled && sql<boolean>`${isStalled(stalled.idle_since)} = ${stalled.is}`,
    model === undefined ? undefined : sql<boolean>`tasks.models @> array[${model}]::text[]`,
    has_errors === undefined ? undefined : sql<boolean>`(tasks.errors > 0) = ${has_errors}`,
    name_prefix === undefined
      ? undefined
      : sql<boolean>`starts_with(lower(tasks.name), lower(${name_prefix}))`,
    ...leastConditions(filter),
    findingCondition(filter),
    feedbackCondition(filter),
    ...trustConditions(filter),
    from === undefined ? undefined : sql<boolean>`tasks.last_activity_at >= ${from}`,
    to === undefined ? undefined : sql<boolean>`tasks.started_at < ${to}`,
  ]
}

function leastConditions(filter: TaskFilter): readonly (Fragment<boolean> | undefined)[] {
  const least = (column: string, value: string | number | undefined) =>
    value === undefined ? undefined : sql<boolean>`${sql.ref(`tasks.${column}`)} >= ${value}`
  return [
    least('cost_usd', filter.cost_usd_min),
    least('total_tokens', filter.total_tokens_min),
    least('duration_ms', filter.duration_ms_min),
    least('worst_severity', filter.worst_severity_min),
    least('wasted_tokens', filter.wasted_tokens_min),
    least('wasted_cost_usd', filter.wasted_cost_usd_min),
  ]
}

function feedbackCondition({ feedback }: TaskFilter): Fragment<boolean> | undefined {
  return (
    feedback &&
    sql<boolean>`exists (
      select from feedback_tasks votes where votes.project_id = tasks.project_id
        and votes.task_id = tasks.task_id and ${sql.ref(`votes.${feedback}`)} > 0)`
  )
}

function findingCondition({ finding_kind, finding_type }: TaskFilter) {
  if (finding_kind === undefined && finding_type === undefined) return undefined
  return sql<boolean>`tasks.worst_severity > 0 and exists (
    select from findings where findings.project_id = tasks.project_id
      and findings.task_id = tasks.task_id and findings.state <> 'withdrawn'
      and findings.kind = coalesce(${finding_kind ?? null}, findings.kind)
      and findings.type = coalesce(${finding_type ?? null}, findings.type))`
}

function trustConditions({ trust_min, trust_max, verification_state }: TaskFilter) {
  return [
    trust_min === undefined ? undefined : sql<boolean>`tasks.trust_score >= ${trust_min}`,
    trust_max === undefined ? undefined : sql<boolean>`tasks.trust_score <= ${trust_max}`,
    verification_state &&
      sql<boolean>`coalesce(tasks.verification_state, 'not_verified') = ${verification_state}`,
  ]
}

/** Applies the rule of `taskFrom` in SQL. */
function isStalled(idleSince: string) {
  return sql<boolean>`
    (tasks.state = 'running' and not tasks.implicit and tasks.last_activity_at < ${idleSince})`
}
