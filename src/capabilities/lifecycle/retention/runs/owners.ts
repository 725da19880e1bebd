import { sql } from '../../../../platform/relational/index.ts'
import type { HeldBy, RetentionStore } from '../../../storage/index.ts'
import type { RetentionDb } from '../contract.ts'
import {
  day_ms,
  daysIn,
  eachDays,
  firstKeptDay,
  type RetentionRules,
} from '../retention-policy/rules.ts'

/** Tasks or conversations of one last day and environment. */
type OwnerBucket = OwnerCount & { kind: 'tasks' | 'conversations' }

/** The inputs that decide which tasks and conversations are due. */
type OwnersQuery = {
  db: RetentionDb
  store: Pick<RetentionStore, 'heldOwners'>
  project_id: string
  rules: RetentionRules
  now_ms: number
  /** Read before each statement, because a hold may be placed during a run. */
  holds: () => Promise<readonly HeldBy[]>
}

const owners_max = 5_000

/** Counts the tasks and conversations that a run would delete now. */
export async function countDueOwners(query: OwnersQuery): Promise<OwnerBucket[]> {
  const due = await findDueOwners(query)
  return [
    ...(await countTasks(query.db, due)).map((one) => ({ ...one, kind: tasks })),
    ...(await countConversations(query.db, due)).map((one) => ({ ...one, kind: talks })),
  ]
}

/** Records deleted buckets, in the transaction that deletes them. */
type Note = (db: RetentionDb, buckets: OwnerBucket[]) => Promise<void>

/** Deletes due tasks, then due conversations, which have to wait for their last task. */
export async function deleteDueOwners(
  query: OwnersQuery,
  signal: AbortSignal,
  note: Note,
): Promise<void> {
  await untilNone({ query, signal, note }, async (db) => {
    const gone = await deleteTasks(db, await findDueOwners(query), owners_max)
    return gone.map((one) => ({ ...one, kind: tasks }))
  })
  await untilNone({ query, signal, note }, async (db) => {
    const gone = await deleteConversations(db, await findDueOwners(query), owners_max)
    return gone.map((one) => ({ ...one, kind: talks }))
  })
}

const tasks = 'tasks' as const
const talks = 'conversations' as const

async function untilNone(
  { query, signal, note }: { query: OwnersQuery; signal: AbortSignal; note: Note },
  work: (db: RetentionDb) => Promise<OwnerBucket[]>,
): Promise<void> {
  for (let is_done = false; !is_done; ) {
    signal.throwIfAborted()
    is_done = await query.db.transaction().execute(async (transaction) => {
      const gone = await work(transaction)
      await note(transaction, gone)
      return gone.length === 0
    })
  }
}

/**
 * Returns the conditions for due tasks and conversations. Conversations have no environment: the
 * shortest days apply, or the longest for conversations without tasks.
 */
async function findDueOwners(query: OwnersQuery): Promise<DueOwners> {
  const { project_id, rules, now_ms } = query
  const held = await heldOwners(query)
  const all = eachDays(rules, 'traces')
  const finite = all.filter((days) => days !== null)
  const environments = rules.environments.map(({ environment }) => ({
    environment,
    before: beforeOf(now_ms, daysIn(rules, environment).traces),
  }))
  return {
    project_id,
    tasks: { before: beforeOf(now_ms, rules.days.traces), environments, held_ids: held.tasks },
    conversations: {
      before: beforeOf(now_ms, finite.length === 0 ? null : Math.min(...finite)),
      before_taskless: beforeOf(now_ms, all.includes(null) ? null : Math.max(...finite)),
      held_ids: held.conversations,
    },
    held_users: held.users,
  }
}

function beforeOf(now_ms: number, days: number | null): Date | null {
  return days === null ? null : new Date(firstKeptDay(now_ms, days) * day_ms)
}

async function heldOwners({ store, project_id, holds }: OwnersQuery) {
  const active = await holds()
  const valuesOf = (kind: HeldBy['kind']) =>
    active.filter((hold) => hold.kind === kind).map(({ value }) => value)
  const { task_ids, conversation_ids } =
    active.length === 0
      ? { task_ids: [], conversation_ids: [] }
      : await store.heldOwners(project_id, active)
  return {
    users: valuesOf('user'),
    conversations: [...conversation_ids, ...valuesOf('conversation')],
    // An implicit task has the id of its trace.
    tasks: [...task_ids, ...valuesOf('task'), ...valuesOf('trace')],
  }
}

/** Conditions for due tasks and conversations: last activity and holds. */
type DueOwners = {
  project_id: string
  tasks: {
    /** Last activity before this instant, for other environments; null: not due. */
    before: Date | null
    environments: readonly { environment: string; before: Date | null }[]
    held_ids: readonly string[]
  }
  conversations: {
    before: Date | null
    /** Limit for conversations that never had a task. */
    before_taskless: Date | null
    held_ids: readonly string[]
  }
  held_users: readonly string[]
}

/** Rows by the UTC day of their last activity, counted from 1970. */
type OwnerCount = { day: number; environment: string; rows: number }

type Counted = { rows: OwnerCount[] }

const dayOf = sql`floor(extract(epoch from last_activity_at) / 86400)::int`

/** Counts the tasks that are due. */
async function countTasks(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, coalesce(environment, '') as environment, count(*)::int as rows
    from tasks where ${isDueTask(due)} group by 1, 2 order by 1, 2`.execute(db)
  return counted.rows
}

/** Deletes at most `limit` due tasks with their events; returns their numbers by day. */
async function deleteTasks(db: RetentionDb, due: DueOwners, limit: number): Promise<OwnerCount[]> {
  const deleted: Counted = await sql<OwnerCount>`
    with gone as (
      delete from tasks where project_id = ${due.project_id} and task_id in (
        select task_id from tasks where ${isDueTask(due)} limit ${limit})
      returning task_id, last_activity_at, environment
    ), told as (
      delete from task_events
      where project_id = ${due.project_id} and task_id in (select task_id from gone)
    ), forgotten as (
      delete from large_rollups where project_id = ${due.project_id} and kind = 'task'
        and id in (select task_id from gone)
    )
    select ${dayOf} as day, coalesce(environment, '') as environment, count(*)::int as rows
    from gone group by 1, 2 order by 1, 2`.execute(db)
  return deleted.rows
}

/** Counts the conversations that are due once the due tasks are deleted. */
async function countConversations(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, '' as environment, count(*)::int as rows
    from conversations where ${isDueConversation(due)} group by 1 order by 1`.execute(db)
  return counted.rows
}

/** Deletes at most `limit` due conversations; returns their numbers by day. */
async function deleteConversations(
  db: RetentionDb,
  due: DueOwners,
  limit: number,
): Promise<OwnerCount[]> {
  const deleted: Counted = await sql<OwnerCount>`
    with gone as (
      delete from conversations
      where project_id = ${due.project_id} and conversation_id in (
        select conversation_id from conversations where ${isDueConversation(due)} limit ${limit})
      returning conversation_id, last_activity_at
    ), forgotten as (
      delete from large_rollups where project_id = ${due.project_id} and kind = 'conversation'
        and id in (select conversation_id::text from gone)
    )
    select ${dayOf} as day, '' as environment, count(*)::int as rows
    from gone group by 1 order by 1`.execute(db)
  return deleted.rows
}

function isDueTask({ project_id, tasks, conversations, held_users }: DueOwners) {
  const names = tasks.environments.map(({ environment }) => environment)
  const befores = tasks.environments.map(({ before }) => before)
  const last = latest([tasks.before, ...befores])
  return sql`project_id = ${project_id}
    and last_activity_at < ${last}::timestamptz
    and last_activity_at < case when coalesce(environment, '') = any(${names}::text[])
      then (${befores}::timestamptz[])[array_position(${names}::text[], coalesce(environment, ''))]
      else ${tasks.before}::timestamptz end
    and not (task_id = any(${[...tasks.held_ids]}))
    and (conversation_id is null
      or not (conversation_id::text = any(${[...conversations.held_ids]})))
    and (user_id is null or not (user_id = any(${[...held_users]})))`
}

/** Matches due conversations; a conversation stays as long as one of its tasks. */
function isDueConversation(due: DueOwners) {
  const { before, before_taskless, held_ids } = due.conversations
  return sql`project_id = ${due.project_id} and last_activity_at < ${before}
    and (tasks > 0 or last_activity_at < ${before_taskless})
    and not (conversation_id::text = any(${[...held_ids]}))
    and (external_id is null or not (external_id = any(${[...held_ids]})))
    and (user_id is null or not (user_id = any(${[...due.held_users]})))
    and not exists (
      select 1 from tasks
      where tasks.project_id = conversations.project_id
        and tasks.conversation_id = conversations.conversation_id
        and (${isDueTask(due)}) is not true)`
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const times = instants.flatMap((instant) => instant?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math.max(...times))
}
