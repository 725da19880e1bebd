import { sql, type TaskTables, type Transaction } from '../../../platform/relational/index.ts'
import type { ConversationRollup, TaskRollup } from '../stores/index.ts'
import type { TaskState } from './task-state.ts'
import { isoFromMs, type TouchedConversation, type TouchedTask } from './touched.ts'

type Trx = Transaction<TaskTables>

/** A task's row as it stands, locked until the transaction ends. Instants are ISO 8601. */
export type LockedTask = TaskState & {
  project_id: string
  task_id: string
  started_at: string
  /** True when this transaction made the row. */
  created: boolean
}

/** Makes the rows of new tasks, and locks all of them in the order given. */
export async function lockTasks(trx: Trx, tasks: readonly TouchedTask[]): Promise<LockedTask[]> {
  const given = tasks.map((task) => ({
    project_id: task.project_id,
    task_id: task.task_id,
    implicit: task.implicit,
    started_at: isoFromMs(task.started_ms),
    last_activity_at: isoFromMs(task.ended_ms),
  }))
  const { rows } = await sql<LockedTask>`
    insert into tasks (project_id, task_id, name, implicit, started_at, last_activity_at)
    select project_id, task_id, '', implicit, started_at, last_activity_at
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, task_id text, implicit boolean, started_at timestamptz,
      last_activity_at timestamptz
    )
    on conflict (project_id, task_id) do update set
      started_at = least(tasks.started_at, excluded.started_at),
      implicit = tasks.implicit and excluded.implicit
    returning project_id, task_id, started_at, implicit, state, ended_at, ended_by,
      late_activity, (xmax = 0) as created
  `.execute(trx)
  return rows
}

/** A conversation's row, locked until the transaction ends. */
export type LockedConversation = { project_id: string; conversation_id: string; started_at: string }

/** Makes the rows of new conversations, and locks all of them in the order given. */
export async function lockConversations(
  trx: Trx,
  conversations: readonly TouchedConversation[],
): Promise<LockedConversation[]> {
  const given = conversations.map((conversation) => ({
    project_id: conversation.project_id,
    conversation_id: conversation.conversation_id,
    external_id: conversation.external_id === '' ? null : conversation.external_id,
    started_at: isoFromMs(conversation.started_ms),
    last_activity_at: isoFromMs(conversation.ended_ms),
  }))
  const { rows } = await sql<LockedConversation>`
    insert into conversations
      (project_id, conversation_id, external_id, started_at, last_activity_at)
    select project_id, conversation_id, external_id, started_at, last_activity_at
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, external_id text, started_at timestamptz,
      last_activity_at timestamptz
    )
    on conflict (project_id, conversation_id) do update set
      started_at = least(conversations.started_at, excluded.started_at)
    returning project_id, conversation_id, started_at
  `.execute(trx)
  return rows
}

/** What is written of a task: its recomputed roll-up and the state that follows from it. */
export type TaskUpdate = { project_id: string; rollup: TaskRollup } & TaskState

/** Writes recomputed roll-ups and states. */
export async function writeTasks(trx: Trx, updates: readonly TaskUpdate[]): Promise<void> {
  const given = updates.map(({ project_id, rollup, ...state }) => {
    const { first_start, last_end, ...columns } = rollup
    return { ...columns, ...spanOf(first_start, last_end), project_id, ...state }
  })
  await sql`
    update tasks set
      name = given.name,
      user_id = nullif(given.user_id, ''),
      conversation_id = nullif(given.conversation_id, '')::uuid,
      environment = nullif(given.environment, ''),
      release = nullif(given.release, ''),
      implicit = given.implicit,
      state = given.state,
      ended_at = given.ended_at,
      ended_by = given.ended_by,
      late_activity = given.late_activity,
      started_at = given.started_at,
      last_activity_at = given.last_activity_at,
      duration_ms = given.duration_ms,
      calls = given.calls,
      errors = given.errors,
      cancelled = given.cancelled,
      input_uncached_tokens = given.input_uncached_tokens,
      cache_read_tokens = given.cache_read_tokens,
      cache_write_tokens = given.cache_write_tokens,
      output_visible_tokens = given.output_visible_tokens,
      reasoning_tokens = given.reasoning_tokens,
      total_tokens = given.total_tokens,
      estimated_calls = given.estimated_calls,
      cost_usd = given.cost_usd,
      unpriced_calls = given.unpriced_calls,
      models = given.models,
      providers = given.providers,
      updated_at = now()
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, task_id text, name text, user_id text, conversation_id text,
      environment text, release text, implicit boolean, state text, ended_at timestamptz,
      ended_by text, late_activity boolean, started_at timestamptz, last_activity_at timestamptz,
      duration_ms bigint, calls bigint, errors bigint, cancelled bigint,
      input_uncached_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint,
      output_visible_tokens bigint, reasoning_tokens bigint, total_tokens bigint,
      estimated_calls bigint, cost_usd numeric, unpriced_calls bigint, models text[],
      providers text[]
    )
    where tasks.project_id = given.project_id and tasks.task_id = given.task_id
  `.execute(trx)
}

/** What is written of a conversation. */
export type ConversationUpdate = { project_id: string; rollup: ConversationRollup }

/** Writes recomputed roll-ups. */
export async function writeConversations(
  trx: Trx,
  updates: readonly ConversationUpdate[],
): Promise<void> {
  const given = updates.map(({ project_id, rollup }) => {
    const { first_start, last_end, ...columns } = rollup
    return { ...columns, ...spanOf(first_start, last_end), project_id }
  })
  await sql`
    update conversations set
      external_id = coalesce(nullif(given.external_id, ''), conversations.external_id),
      user_id = nullif(given.user_id, ''),
      started_at = given.started_at,
      last_activity_at = given.last_activity_at,
      tasks = given.tasks,
      traces = given.traces,
      calls = given.calls,
      errors = given.errors,
      total_tokens = given.total_tokens,
      cost_usd = given.cost_usd,
      models = given.models,
      updated_at = now()
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, external_id text, user_id text,
      started_at timestamptz, last_activity_at timestamptz, tasks bigint, traces bigint,
      calls bigint, errors bigint, total_tokens bigint, cost_usd numeric, models text[]
    )
    where conversations.project_id = given.project_id
      and conversations.conversation_id = given.conversation_id
  `.execute(trx)
}

/** Something that a call brought about; `at` is ISO 8601. */
export type NewTaskEvent = {
  id: string
  project_id: string
  task_id: string
  kind: 'created' | 'late_activity'
  at: string
  actor_kind: 'call'
}

/** Writes down what happened to tasks by their calls. */
export async function writeTaskEvents(trx: Trx, events: readonly NewTaskEvent[]): Promise<void> {
  if (events.length === 0) return
  await sql`
    insert into task_events (id, project_id, task_id, kind, at, actor_kind)
    select id, project_id, task_id, kind, at, actor_kind
    from json_to_recordset(${JSON.stringify(events)}::json) as given (
      id uuid, project_id uuid, task_id text, kind text, at timestamptz, actor_kind text
    )
  `.execute(trx)
}

/** Whole milliseconds, as the columns hold them: a start never reads later than it was. */
function spanOf(first_start: bigint, last_end: bigint) {
  const start_ms = Number(first_start / nsPerMs)
  const end_ms = Number(last_end / nsPerMs)
  return {
    started_at: isoFromMs(start_ms),
    last_activity_at: isoFromMs(end_ms),
    duration_ms: end_ms - start_ms,
  }
}

const nsPerMs = 1_000_000n
