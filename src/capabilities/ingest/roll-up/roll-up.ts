import { newId } from '../../../kernel/ids.ts'
import {
  type Kysely,
  noteChanges,
  type TaskTables,
  type Transaction,
} from '../../../platform/relational/index.ts'
import type { ObservationStore, TaskRollup } from '../../storage/index.ts'
import {
  type LockedConversation,
  lockConversations,
  writeConversations,
} from './conversation-store.ts'
import { markLarge, noteLarge, type RollUpKey } from './large-rollups.ts'
import { computeTaskRollup, lateStart, newTaskState, taskStateAfter } from './task-state.ts'
import {
  type LockedTask,
  type NewTaskEvent,
  putTasks,
  type TaskActivity,
  type TaskToPut,
  withoutFingerprints,
  writeTaskEvents,
  writeTaskStates,
  writeTasks,
} from './task-store.ts'
import { isoFromMs, msFromNs, nsFromIso, type Touched, type TouchedTask } from './touched.ts'

/** Maximum tasks or conversations in one query to the observation store. */
const rollups_max = 1_000

/** The dependencies of roll-ups. */
export type RollUpPorts = {
  db: Kysely<TaskTables>
  store: ObservationStore
  /** Observations from which a roll-up is refreshed asynchronously, not by every batch. */
  large_from: number
  /** Marks tasks as due for detection, in the transaction that has locked their rows. */
  markDue: (trx: Kysely<TaskTables>, tasks: readonly TaskId[]) => Promise<void>
}

/**
 * Updates the tasks and conversations of a batch in one transaction. New tasks are inserted from
 * the batch alone. A batch is added to a task when none of its observations can be counted there
 * yet. All other tasks are locked and recomputed from the stored observations. Large ones are only
 * marked, and refreshed asynchronously (docs/decisions/0019). All tasks are marked for detection.
 *
 * Locks come first, so that the second of two workers sees what the first has counted. Repeating
 * the update is harmless, since counted observations lead to a recomputation (docs/decisions/0018).
 * The caller's transaction runs in the scope of the projects of the batch.
 */
export async function rollUp(
  trx: Transaction<TaskTables>,
  ports: RollUpPorts,
  touched: Touched,
): Promise<void> {
  if (touched.tasks.length === 0 && touched.conversations.length === 0) return
  const tasks = touched.tasks.length === 0 ? [] : await putTasks(trx, newTasks(touched.tasks))
  const conversations =
    touched.conversations.length === 0 ? [] : await lockConversations(trx, touched.conversations)
  const keys = [...tasks.map(taskKey), ...conversations.map(conversationKey)]
  const large = new Set((await markLarge(trx, keys)).map(textOf))
  const grown = [
    ...(await rollUpTasks(trx, ports, { locked: tasks, touched: touched.tasks, large })),
    ...(await rollUpConversations(
      trx,
      ports,
      conversations.filter((one) => !large.has(textOf(conversationKey(one)))),
    )),
  ]
  await noteLarge(trx, grown)
  await ports.markDue(trx, touched.tasks)
  await noteTasks(trx, touched.tasks)
}

/** Notes that tasks changed, for streams of events. */
export function noteTasks(trx: Kysely<TaskTables>, tasks: readonly TaskId[]): Promise<void> {
  const changes = tasks.map(({ project_id, task_id: id }) => ({
    project_id,
    id,
    kind: 'task' as const,
  }))
  return noteChanges(trx, changes)
}

export type TaskId = { project_id: string; task_id: string }
type ConversationId = { project_id: string; conversation_id: string }

function taskKey({ project_id, task_id }: TaskId): RollUpKey {
  return { project_id, kind: 'task', id: task_id }
}

function conversationKey({ project_id, conversation_id }: ConversationId): RollUpKey {
  return { project_id, kind: 'conversation', id: conversation_id }
}

function textOf({ project_id, kind, id }: RollUpKey): string {
  return `${project_id} ${kind} ${id}`
}

/** Returns the rows that the tasks would have if the batch were their first one. */
function newTasks(tasks: readonly TouchedTask[]): TaskToPut[] {
  const eventId = idsFrom(newId())
  return tasks.map((touched) => {
    const { project_id, task_id, rows } = touched
    const rollup = computeTaskRollup(task_id, rows)
    const state = taskStateAfter(newTaskState, touched, rollup)
    return { project_id, event_id: eventId(), rollup, ...state }
  })
}

/** The tasks of a batch: those to recompute, with their rows, and the keys of the large ones. */
type TaskBatch = {
  locked: readonly LockedTask[]
  touched: readonly TouchedTask[]
  large: ReadonlySet<string>
}

/** Rolls up the tasks. Returns those that have become large. */
async function rollUpTasks(
  trx: Transaction<TaskTables>,
  ports: RollUpPorts,
  batch: TaskBatch,
): Promise<RollUpKey[]> {
  if (batch.locked.length === 0) return []
  const touchedByKey = new Map(batch.touched.map((task) => [textOf(taskKey(task)), task]))
  const locked = batch.locked.flatMap((task) => {
    const touched = touchedByKey.get(textOf(taskKey(task)))
    return touched === undefined ? [] : [{ ...task, touched }]
  })
  const isLarge = (task: LockedTask) => batch.large.has(textOf(taskKey(task)))
  await writeTaskStates(trx, locked.filter(isLarge).map(toActivity))
  await writeTaskEvents(trx, locked.flatMap(lateActivityEvents))
  const grown: RollUpKey[] = []
  for (const chunk of chunksByProject(locked.filter((task) => !isLarge(task)))) {
    const rollups = await taskRollups(ports.store, chunk)
    const updates = chunk.flatMap((task) => {
      const rollup = rollups.get(task.task_id)
      if (rollup === undefined) return []
      const isLarge = rollup.observations >= ports.large_from
      if (isLarge) grown.push(taskKey(task))
      const state = taskStateAfter(task, task.touched, rollup)
      const { project_id } = task
      return [{ project_id, rollup: isLarge ? withoutFingerprints(rollup) : rollup, ...state }]
    })
    await writeTasks(trx, updates)
  }
  return grown
}

function toActivity(task: TaskToRecompute): TaskActivity {
  const { project_id, task_id, touched } = task
  const implicit = touched.rows.every(({ task_implicit }) => task_implicit)
  return {
    project_id,
    task_id,
    ...taskStateAfter(task, touched, { implicit }),
    started_at: isoFromMs(msFromNs(firstStart(task))),
    last_activity_at: isoFromMs(msFromNs(touched.last_end)),
  }
}

type TaskToRecompute = LockedTask & { touched: TouchedTask }

async function taskRollups(
  store: ObservationStore,
  chunk: readonly TaskToRecompute[],
): Promise<Map<string, TaskRollup>> {
  const hints = chunk.map((task) => ({ task_id: task.task_id, from: firstStart(task) }))
  const rollups = await store.taskRollups(projectOf(chunk), hints)
  return new Map(rollups.map((rollup) => [rollup.task_id, rollup]))
}

function firstStart({ started_at, touched }: TaskToRecompute): bigint {
  let first = nsFromIso(started_at)
  for (const { start_time } of touched.rows) if (start_time < first) first = start_time
  return first
}

function lateActivityEvents({ touched, ...locked }: TaskToRecompute): NewTaskEvent[] {
  const late_ms = locked.late_activity ? undefined : lateStart(locked, touched)
  if (late_ms === undefined) return []
  const { project_id, task_id } = locked
  const at = isoFromMs(late_ms)
  return [{ id: newId(), project_id, task_id, kind: 'late_activity', at, actor_kind: 'call' }]
}

/** Rolls up the conversations. Returns those that have become large. */
async function rollUpConversations(
  trx: Transaction<TaskTables>,
  ports: RollUpPorts,
  locked: readonly LockedConversation[],
): Promise<RollUpKey[]> {
  const grown: RollUpKey[] = []
  for (const chunk of chunksByProject(locked)) {
    const project_id = projectOf(chunk)
    const hints = chunk.map(({ conversation_id, started_at }) => ({
      conversation_id,
      from: nsFromIso(started_at),
    }))
    const rollups = await ports.store.conversationRollups(project_id, hints)
    const updates = rollups.map((rollup) => ({ project_id, rollup }))
    await writeConversations(trx, updates)
    for (const { rollup } of updates) {
      const { conversation_id, observations } = rollup
      if (observations >= ports.large_from) {
        grown.push(conversationKey({ project_id, conversation_id }))
      }
    }
  }
  return grown
}

export function projectOf(chunk: readonly { project_id: string }[]): string {
  return chunk[0]?.project_id ?? ''
}

/** Splits rows, which are in project order, into chunks of one project and limited length. */
export function chunksByProject<T extends { project_id: string }>(rows: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (const row of rows) {
    const last = chunks.at(-1)
    const fits = last && last.length < rollups_max && last[0]?.project_id === row.project_id
    if (fits) last.push(row)
    else chunks.push([row])
  }
  return chunks
}

const digits = 12
const numbers = 2 ** (4 * digits)

/**
 * Returns a generator of consecutive ids that starts at a UUIDv7. They are as unique as the first
 * one, which starts at a random one of 2^48 values, and much cheaper than new ids: a batch may need
 * ten thousand.
 */
export function idsFrom(first: string): () => string {
  const head = first.slice(0, -digits)
  let next = Number.parseInt(first.slice(-digits), 16)
  return () => {
    const id = head + next.toString(16).padStart(digits, '0')
    next = (next + 1) % numbers
    return id
  }
}
