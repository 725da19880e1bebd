import { sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../retention-deps.ts'

/** Roll-ups in PostgreSQL that are due: tasks, or conversations. */
export type DueOwners = {
  project_id: string
  /** Last activity before this instant; null: none is due. */
  before: Date | null
  /** Conversations that never had a task: before this instant. */
  before_taskless?: Date | null
  /** Tasks of this environment, or of all but those. */
  environments: { only: string } | { but: readonly string[] }
  held_ids: readonly string[]
  held_conversations: readonly string[]
  held_users: readonly string[]
}

/** Rows by the UTC day of their last activity, counted from 1970. */
export type OwnerCount = { day: number; environment: string; rows: number }

type Counted = { rows: OwnerCount[] }

const dayOf = sql`floor(extract(epoch from last_activity_at) / 86400)::int`

/** Tasks that are due, and those of them that are held. */
export async function countTasks(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, coalesce(environment, '') as environment, count(*)::int as rows
    from tasks where ${dueTasks(due)} group by 1, 2 order by 1, 2`.execute(db)
  return counted.rows
}

/** Deletes so many of them with what is told of them; resolves with how many of each day. */
export async function deleteTasks(
  db: RetentionDb,
  due: DueOwners,
  limit: number,
): Promise<OwnerCount[]> {
  const deleted: Counted = await sql<OwnerCount>`
    with gone as (
      delete from tasks where project_id = ${due.project_id} and task_id in (
        select task_id from tasks where ${dueTasks(due)} limit ${limit})
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

/** Conversations that are due and of which no task is left. */
export async function countConversations(db: RetentionDb, due: DueOwners): Promise<OwnerCount[]> {
  const counted: Counted = await sql<OwnerCount>`
    select ${dayOf} as day, '' as environment, count(*)::int as rows
    from conversations where ${dueConversations(due)} group by 1 order by 1`.execute(db)
  return counted.rows
}

export async function deleteConversations(
  db: RetentionDb,
  due: DueOwners,
  limit: number,
): Promise<OwnerCount[]> {
  const deleted: Counted = await sql<OwnerCount>`
    with gone as (
      delete from conversations
      where project_id = ${due.project_id} and conversation_id in (
        select conversation_id from conversations where ${dueConversations(due)} limit ${limit})
      returning conversation_id, last_activity_at
    ), forgotten as (
      delete from large_rollups where project_id = ${due.project_id} and kind = 'conversation'
        and id in (select conversation_id::text from gone)
    )
    select ${dayOf} as day, '' as environment, count(*)::int as rows
    from gone group by 1 order by 1`.execute(db)
  return deleted.rows
}

function dueTasks(due: DueOwners) {
  const { environments } = due
  const environment =
    'only' in environments
      ? sql`coalesce(environment, '') = ${environments.only}`
      : sql`not (coalesce(environment, '') = any(${[...environments.but]}))`
  return sql`project_id = ${due.project_id} and last_activity_at < ${due.before}
    and ${environment}
    and not (task_id = any(${[...due.held_ids]}))
    and (conversation_id is null
      or not (conversation_id::text = any(${[...due.held_conversations]})))
    and (user_id is null or not (user_id = any(${[...due.held_users]})))`
}

function dueConversations(due: DueOwners) {
  return sql`project_id = ${due.project_id} and last_activity_at < ${due.before}
    and (tasks > 0 or last_activity_at < ${due.before_taskless ?? null})
    and not (conversation_id::text = any(${[...due.held_ids]}))
    and (external_id is null or not (external_id = any(${[...due.held_ids]})))
    and (user_id is null or not (user_id = any(${[...due.held_users]})))
    and not exists (
      select 1 from tasks
      where tasks.project_id = conversations.project_id
        and tasks.conversation_id = conversations.conversation_id)`
}
