import {
  prepared,
  sql,
  type TaskTables,
  type Transaction,
} from '../../../platform/relational/index.ts'
import { fingerprints_max, type TaskRollup } from '../../storage/index.ts'
import { assignments, definitions, names } from './columns.ts'
import { saturate, saturatingSum, taskSums } from './saturate.ts'
import type { TaskState } from './task-state.ts'
import { isoFromMs, msFromNs } from './touched.ts'

type Trx = Transaction<TaskTables>

/** A task's new roll-up, and the state that follows from it. */
type TaskUpdate = { project_id: string; rollup: TaskRollup } & TaskState

/** Returns a roll-up that is always recomputed and never added to. */
export function withoutFingerprints(rollup: TaskRollup): TaskRollup {
  return { ...rollup, fingerprints: undefined }
}

/** A task's row, locked until the transaction ends. Instants are ISO 8601. */
export type LockedTask = TaskState & {
  project_id: string
  task_id: string
  started_at: string
}

/** A task that may be new; `event_id` is the id of its `created` event. */
export type TaskToPut = TaskUpdate & { event_id: string }

/**
 * Inserts the new tasks of a batch with a `created` event. Adds to an existing task when it is not
 * ended and none of the batch's observations can be counted yet. Locks all others and returns them,
 * to be recomputed. Locks in the given order.
 */
export async function putTasks(trx: Trx, tasks: readonly TaskToPut[]): Promise<LockedTask[]> {
  const { rows } = await sql<{ project_id: string; task_id: string }>`
    with given as materialized (
      select * from ${givenTasks(tasks)}
    ), put as (
      insert into tasks (project_id, task_id, ${names(taskColumns)})
      select project_id, task_id, ${names(taskColumns)} from given
      on conflict (project_id, task_id) do update set ${sql.raw(additions)}
        where ${sql.raw(isSurelyNew)}
      returning project_id, task_id, started_at, (xmax = 0) as created
    ), told as (
      insert into task_events (id, project_id, task_id, kind, at, actor_kind)
      select given.event_id, project_id, task_id, 'created', put.started_at, 'call'
      from put join given using (project_id, task_id) where put.created
    )
    select project_id, task_id from given
    where not exists (
      select from put where (put.project_id, put.task_id) = (given.project_id, given.task_id)
    )
  `.execute(prepared(trx, 'put_tasks'))
  return rows.length === 0 ? [] : lockTasks(trx, rows)
}

/** Locks tasks in the order of their keys. */
export async function lockTasks(
  trx: Trx,
  keys: readonly { project_id: string; task_id: string }[],
): Promise<LockedTask[]> {
  const { rows } = await sql<LockedTask>`
    select project_id, task_id, started_at, implicit, state, ended_at, ended_by, late_activity
    from tasks join json_to_recordset(${JSON.stringify(keys)}::json)
      as given (project_id uuid, task_id text) using (project_id, task_id)
    order by project_id, task_id for update of tasks
  `.execute(prepared(trx, 'lock_tasks'))
  return rows
}

/** The state and the activity times of a task. Instants are ISO 8601. */
export type TaskActivity = LockedTask & { last_activity_at: string }

/** Writes the states of locked tasks; their sums do not change. */
export async function writeTaskStates(trx: Trx, tasks: readonly TaskActivity[]): Promise<void> {
  if (tasks.length === 0) return
  await sql`
    update tasks set
      implicit = given.implicit, state = given.state, ended_at = given.ended_at,
      ended_by = given.ended_by, late_activity = given.late_activity,
      started_at = least(tasks.started_at, given.started_at),
      last_activity_at = greatest(tasks.last_activity_at, given.last_activity_at),
      updated_at = now()
    from json_to_recordset(${JSON.stringify(tasks)}::json) as given (
      project_id uuid, task_id text, implicit boolean, state text, ended_at timestamptz,
      ended_by text, late_activity boolean, started_at timestamptz, last_activity_at timestamptz
    )
    where tasks.project_id = given.project_id and tasks.task_id = given.task_id
  `.execute(trx)
}

/** Writes recomputed roll-ups and states of locked tasks. */
export async function writeTasks(trx: Trx, tasks: readonly TaskUpdate[]): Promise<void> {
  if (tasks.length === 0) return
  await sql`
    update tasks set ${assignments('tasks', taskColumns)}, updated_at = now()
    from ${givenTasks(tasks)}
    where tasks.project_id = given.project_id and tasks.task_id = given.task_id
  `.execute(prepared(trx, 'write_tasks'))
}

/** An event that a call caused; `at` is ISO 8601. */
export type NewTaskEvent = {
  id: string
  project_id: string
  task_id: string
  kind: 'late_activity'
  at: string
  actor_kind: 'call'
}

/** Writes events of tasks that their calls caused. */
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

/** Columns to write, with their types. */
const taskColumns = {
  name: 'text',
  user_id: 'text',
  conversation_id: 'uuid',
  environment: 'text',
  release: 'text',
  cluster_name: 'text',
  implicit: 'boolean',
  state: 'text',
  ended_at: 'timestamptz',
  ended_by: 'text',
  late_activity: 'boolean',
  started_at: 'timestamptz',
  last_activity_at: 'timestamptz',
  duration_ms: 'bigint',
  calls: 'bigint',
  merged_calls: 'bigint',
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
  partially_priced_calls: 'bigint',
  models: 'text[]',
  providers: 'text[]',
  last_started_at: 'timestamptz',
  counted: 'integer[]',
} as const

/** Passes all rows in one parameter, regardless of their number. */
function givenTasks(tasks: readonly (TaskUpdate & { event_id?: string })[]) {
  let text = '['
  for (const [at, task] of tasks.entries()) text += at === 0 ? taskText(task) : `,${taskText(task)}`
  return sql`json_to_recordset(${`${text}]`}::json) as given (
    event_id uuid, project_id uuid, task_id text, ${definitions(taskColumns)}
  )`
}

/**
 * Serializes a task by hand, because a batch may contain ten thousand. Empty values become null.
 */
function taskText({
  project_id,
  event_id,
  rollup: given,
  ...state
}: TaskUpdate & { event_id?: string }) {
  const rollup = saturate(given)
  const start_ms = msFromNs(rollup.first_start)
  const end_ms = msFromNs(rollup.last_end)
  return `{"project_id":"${project_id}","event_id":${textOrNull(event_id ?? '')},"task_id":${JSON.stringify(rollup.task_id)},"name":${JSON.stringify(rollup.name)},"user_id":${textOrNull(rollup.user_id)},"conversation_id":${textOrNull(rollup.conversation_id)},"environment":${textOrNull(rollup.environment)},"release":${textOrNull(rollup.release)},"cluster_name":${textOrNull(rollup.cluster_name)},"implicit":${state.implicit},"state":"${state.state}","ended_at":${textOrNull(state.ended_at ?? '')},"ended_by":${textOrNull(state.ended_by ?? '')},"late_activity":${state.late_activity},"started_at":"${isoFromMs(start_ms)}","last_activity_at":"${isoFromMs(end_ms)}","duration_ms":${end_ms - start_ms},${sumsText(rollup)}}`
}

function sumsText(rollup: TaskRollup): string {
  return `"calls":${rollup.calls},"merged_calls":${rollup.merged_calls},"errors":${rollup.errors},"cancelled":${rollup.cancelled},"input_uncached_tokens":${rollup.input_uncached_tokens},"cache_read_tokens":${rollup.cache_read_tokens},"cache_write_tokens":${rollup.cache_write_tokens},"output_visible_tokens":${rollup.output_visible_tokens},"reasoning_tokens":${rollup.reasoning_tokens},"total_tokens":${rollup.total_tokens},"estimated_calls":${rollup.estimated_calls},"cost_usd":${rollup.cost_usd},"unpriced_calls":${rollup.unpriced_calls},"partially_priced_calls":${rollup.partially_priced_calls},"models":${JSON.stringify(rollup.models)},"providers":${JSON.stringify(rollup.providers)},"last_started_at":"${isoFromMs(msFromNs(rollup.last_start))}","counted":${countedText(rollup.fingerprints)}`
}

function countedText(fingerprints: readonly number[] | undefined): string {
  return fingerprints === undefined ? 'null' : `[${fingerprints.join(',')}]`
}

function textOrNull(text: string): string {
  return text === '' ? 'null' : JSON.stringify(text)
}

/** Maximum models and providers in the lists, as in the store's roll-ups. */
const listed_max = 100

/**
 * SQL over `tasks` and `excluded` that is true when a batch's roll-up can be added to a task's.
 * None of its fingerprints may be counted yet, the lists must have room, the task must not be ended
 * by anyone but its calls, and the latest name and ids must be known without the observations: the
 * batch is later than all counted rows, or does not contradict them. It is null, which acts as
 * false, where the task's fingerprints are unknown.
 */
const isSurelyNew = `
  not tasks.counted && excluded.counted
  and cardinality(tasks.counted) + cardinality(excluded.counted) <= ${fingerprints_max}
  and cardinality(tasks.models) + cardinality(excluded.models) <= ${listed_max}
  and cardinality(tasks.providers) + cardinality(excluded.providers) <= ${listed_max}
  and (tasks.ended_at is null or tasks.ended_by = 'call')
  and (excluded.started_at > tasks.last_started_at or (
    (tasks.name = '' or excluded.name in ('', tasks.name))
    and coalesce(excluded.user_id = tasks.user_id, true)
    and coalesce(excluded.conversation_id = tasks.conversation_id, true)
    and coalesce(excluded.environment = tasks.environment, true)
    and coalesce(excluded.release = tasks.release, true)
    and coalesce(excluded.cluster_name = tasks.cluster_name, true)))`

const isBothImplicit = '(tasks.implicit and excluded.implicit)'

const sums = taskSums.map(saturatingSum)

const latest = ['user_id', 'conversation_id', 'environment', 'release', 'cluster_name'].map(
  (column) => `${column} = coalesce(excluded.${column}, tasks.${column})`,
)

const lists = ['models', 'providers'].map(
  (column) => `${column} = case when tasks.${column} @> excluded.${column} then tasks.${column}
    else array(select distinct item collate "C"
      from unnest(tasks.${column} || excluded.${column}) as item order by 1) end`,
)

/**
 * The assignments that add a batch's roll-up to a task's, with the state as `taskStateAfter` has
 * it.
 */
const additions = `
  name = coalesce(nullif(excluded.name, ''), tasks.name),
  implicit = ${isBothImplicit},
  state = case when not ${isBothImplicit} then 'running'
    when excluded.ended_at < tasks.ended_at then tasks.state else excluded.state end,
  ended_at = case when ${isBothImplicit} then greatest(tasks.ended_at, excluded.ended_at) end,
  ended_by = case when ${isBothImplicit} then 'call' end,
  started_at = least(tasks.started_at, excluded.started_at),
  last_started_at = greatest(tasks.last_started_at, excluded.last_started_at),
  last_activity_at = greatest(tasks.last_activity_at, excluded.last_activity_at),
  duration_ms = 1000 * extract(epoch from
    greatest(tasks.last_activity_at, excluded.last_activity_at)
    - least(tasks.started_at, excluded.started_at)),
  ${[...latest, ...sums, ...lists].join(',\n  ')},
  counted = tasks.counted || excluded.counted,
  updated_at = now()`
