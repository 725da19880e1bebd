import { sql, type TaskTables, type Transaction } from '../../../../platform/relational/index.ts'
import type { ConversationRollup, TaskRollup } from '../../stores/index.ts'
import type { TaskState } from './task-state.ts'
import { isoFromMs, type TouchedConversation } from './touched.ts'

type Trx = Transaction<TaskTables>

/** What is written of a task: its roll-up and the state that follows from it. */
export type TaskUpdate = { project_id: string; rollup: TaskRollup } & TaskState

/** A task's row as it stands, locked until the transaction ends. Instants are ISO 8601. */
export type LockedTask = TaskState & {
  project_id: string
  task_id: string
  started_at: string
  /** True when this transaction made the row, of what it was given. */
  created: boolean
}

/**
 * Makes the rows of tasks that have none, as given, and locks those that were there, changing
 * nothing but what never goes back: the earliest start, and that a call had an X-Task-ID. Locks in
 * the order given.
 */
export async function putTasks(trx: Trx, tasks: readonly TaskUpdate[]): Promise<LockedTask[]> {
  const { rows } = await sql<LockedTask>`
    insert into tasks (project_id, task_id, ${names(taskColumns)})
    select project_id, task_id, ${names(taskColumns)} from ${givenTasks(tasks)}
    on conflict (project_id, task_id) do update set
      started_at = least(tasks.started_at, excluded.started_at),
      implicit = tasks.implicit and excluded.implicit
    returning project_id, task_id, started_at, implicit, state, ended_at, ended_by,
      late_activity, (xmax = 0) as created
  `.execute(trx)
  return rows
}

/** Writes recomputed roll-ups and states of tasks that are locked. */
export async function writeTasks(trx: Trx, tasks: readonly TaskUpdate[]): Promise<void> {
  if (tasks.length === 0) return
  await sql`
    update tasks set ${assignments(taskColumns)}, updated_at = now()
    from ${givenTasks(tasks)}
    where tasks.project_id = given.project_id and tasks.task_id = given.task_id
  `.execute(trx)
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
    started_at: isoFromMs(conversation.started_ms),
    last_activity_at: isoFromMs(conversation.ended_ms),
  }))
  const { rows } = await sql<LockedConversation>`
    insert into conversations (project_id, conversation_id, started_at, last_activity_at)
    select project_id, conversation_id, started_at, last_activity_at
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, started_at timestamptz, last_activity_at timestamptz
    )
    on conflict (project_id, conversation_id) do update set
      started_at = least(conversations.started_at, excluded.started_at)
    returning project_id, conversation_id, started_at
  `.execute(trx)
  return rows
}

/** What is written of a conversation. */
export type ConversationUpdate = { project_id: string; rollup: ConversationRollup }

/** Writes recomputed roll-ups of conversations that are locked. */
export async function writeConversations(
  trx: Trx,
  updates: readonly ConversationUpdate[],
): Promise<void> {
  const given = updates.map(({ project_id, rollup }) => recordOf(rollup, { project_id }))
  await sql`
    update conversations set ${assignments(conversationColumns)}, updated_at = now()
    from json_to_recordset(${JSON.stringify(given)}::json) as given (
      project_id uuid, conversation_id uuid, ${definitions(conversationColumns)}
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

/** Columns that are written, with their types. */
const taskColumns = {
  name: 'text',
  user_id: 'text',
  conversation_id: 'uuid',
  environment: 'text',
  release: 'text',
  implicit: 'boolean',
  state: 'text',
  ended_at: 'timestamptz',
  ended_by: 'text',
  late_activity: 'boolean',
  started_at: 'timestamptz',
  last_activity_at: 'timestamptz',
  duration_ms: 'bigint',
  calls: 'bigint',
  errors: 'bigint',
  cancelled: 'bigint',
  input_uncached_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  output_visible_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  total_tokens: 'bigint',
  estimated_calls: 'bigint',
  cost_usd: 'numeric',
  unpriced_calls: 'bigint',
  models: 'text[]',
  providers: 'text[]',
} as const

const conversationColumns = {
  external_id: 'text',
  user_id: 'text',
  started_at: 'timestamptz',
  last_activity_at: 'timestamptz',
  tasks: 'bigint',
  traces: 'bigint',
  calls: 'bigint',
  errors: 'bigint',
  total_tokens: 'bigint',
  cost_usd: 'numeric',
  models: 'text[]',
} as const

type Columns = { readonly [column: string]: string }
const names = (columns: Columns) => sql.raw(Object.keys(columns).join(', '))
const definitions = (columns: Columns) =>
  sql.raw(
    Object.entries(columns)
      .map(([column, type]) => `${column} ${type}`)
      .join(', '),
  )
const assignments = (columns: Columns) =>
  sql.raw(
    Object.keys(columns)
      .map((column) => `${column} = given.${column}`)
      .join(', '),
  )

/** One parameter carries all rows, whatever their number. */
function givenTasks(tasks: readonly TaskUpdate[]) {
  const given = tasks.map(({ project_id, rollup, ...state }) =>
    recordOf({ ...rollup, name: '' }, { ...state, project_id, name: rollup.name }),
  )
  return sql`json_to_recordset(${JSON.stringify(given)}::json) as given (
    project_id uuid, task_id text, ${definitions(taskColumns)}
  )`
}

/**
 * A roll-up as a record. What is not known is empty there and null here. Times are whole
 * milliseconds, as the columns hold them: a start never reads later than it was.
 */
function recordOf(rollup: TaskRollup | ConversationRollup, more: object): object {
  const { first_start, last_end, ...columns } = rollup
  const start_ms = Number(first_start / nsPerMs)
  const end_ms = Number(last_end / nsPerMs)
  const known = Object.entries(columns).map(([column, value]) => [
    column,
    value === '' ? null : value,
  ])
  return {
    ...Object.fromEntries(known),
    started_at: isoFromMs(start_ms),
    last_activity_at: isoFromMs(end_ms),
    duration_ms: end_ms - start_ms,
    ...more,
  }
}

const nsPerMs = 1_000_000n
