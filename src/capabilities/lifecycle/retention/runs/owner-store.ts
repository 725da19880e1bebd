import { sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'

/** Conditions for due tasks and conversations: last activity and holds. */
export type DueOwners = {
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
export type OwnerCount = { day: number; environment: string; rows: number }

type Counted = { rows: OwnerCount[] }

const dayOf = sql`floor(extract(epoch from last_activity_at) / 86400)::int`

/** Counts the tasks that are due. */
export async function countTasks(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, coalesce(environment, '') as environment, count(*)::int as rows
    from tasks where ${isDueTask(due)} group by 1, 2 order by 1, 2`.execute(db)
  return counted.rows
}

/** Deletes at most `limit` due tasks with their events; returns their numbers by day. */
export async function deleteTasks(
  db: RetentionDb,
  due: DueOwners,
  limit: number,
): Promise<OwnerCount[]> {
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
export async function countConversations(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, '' as environment, count(*)::int as rows
    from conversations where ${isDueConversation(due)} group by 1 order by 1`.execute(db)
  return counted.rows
}

/** Deletes at most `limit` due conversations; returns their numbers by day. */
export async function deleteConversations(
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
