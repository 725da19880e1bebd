import { newId } from '../../../../kernel/ids.ts'
import type { Kysely, TaskTables, Transaction } from '../../../../platform/relational/index.ts'
import type { ObservationStore, TaskRollup } from '../../stores/index.ts'
import { idsFrom } from './ids-from.ts'
import { taskRollupOf } from './rollup-of-rows.ts'
import {
  type LockedConversation,
  type LockedTask,
  lockConversations,
  type NewTaskEvent,
  putTasks,
  type TaskToPut,
  writeConversations,
  writeTaskEvents,
  writeTasks,
} from './store.ts'
import { lateStart, newTaskState, taskStateAfter } from './task-state.ts'
import { isoFromMs, type Touched, type TouchedTask } from './touched.ts'

/** Tasks or conversations of one question to the observation store; its own bound. */
const rollups_max = 1_000

/**
 * Brings the tasks and conversations of a batch up to date, in one transaction: makes the new
 * tasks of the batch alone, adds to those of which it is sure that nothing of the batch is counted
 * yet, locks the others, recomputes those from the stored observations, and writes what came out.
 * The locks come first, so that of two workers the second one knows what the first one counted.
 * Repeating it does no harm: what is counted already is recomputed (docs/decisions/0018).
 */
export async function rollUp(
  stores: { db: Kysely<TaskTables>; store: ObservationStore },
  touched: Touched,
): Promise<void> {
  if (touched.tasks.length === 0 && touched.conversations.length === 0) return
  await stores.db.transaction().execute(async (trx) => {
    const tasks = touched.tasks.length === 0 ? [] : await putTasks(trx, newTasks(touched.tasks))
    const conversations =
      touched.conversations.length === 0 ? [] : await lockConversations(trx, touched.conversations)
    await rollUpTasks(trx, stores.store, { locked: tasks, touched: touched.tasks })
    await rollUpConversations(trx, stores.store, conversations)
  })
}

/** The tasks as they are when no call of them was ever seen before. */
function newTasks(tasks: readonly TouchedTask[]): TaskToPut[] {
  const eventId = idsFrom(newId())
  return tasks.map((touched) => {
    const { project_id, task_id, rows } = touched
    const rollup = taskRollupOf(task_id, rows)
    const state = taskStateAfter(newTaskState, touched, rollup)
    return { project_id, event_id: eventId(), rollup, ...state }
  })
}

async function rollUpTasks(
  trx: Transaction<TaskTables>,
  store: ObservationStore,
  about: { locked: readonly LockedTask[]; touched: readonly TouchedTask[] },
): Promise<void> {
  if (about.locked.length === 0) return
  const touchedByKey = new Map(about.touched.map((task) => [keyOf(task), task]))
  const locked = about.locked.flatMap((task) => {
    const touched = touchedByKey.get(keyOf(task))
    return touched === undefined ? [] : [{ ...task, touched }]
  })
  const events: NewTaskEvent[] = []
  for (const chunk of chunksByProject(locked)) {
    const rollups = await taskRollups(store, chunk)
    const updates = chunk.flatMap((task) => {
      const rollup = rollups.get(task.task_id)
      if (rollup === undefined) return []
      events.push(...lateActivityOf(task, task.touched))
      const state = taskStateAfter(task, task.touched, rollup)
      return [{ project_id: task.project_id, rollup, ...state }]
    })
    await writeTasks(trx, updates)
  }
  await writeTaskEvents(trx, events)
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
  let first = nsFrom(started_at)
  for (const { start_time } of touched.rows) if (start_time < first) first = start_time
  return first
}

function lateActivityOf(locked: LockedTask, touched: TouchedTask): NewTaskEvent[] {
  const late_ms = locked.late_activity ? undefined : lateStart(locked, touched)
  if (late_ms === undefined) return []
  const { project_id, task_id } = locked
  const at = isoFromMs(late_ms)
  return [{ id: newId(), project_id, task_id, kind: 'late_activity', at, actor_kind: 'call' }]
}

async function rollUpConversations(
  trx: Transaction<TaskTables>,
  store: ObservationStore,
  locked: readonly LockedConversation[],
): Promise<void> {
  for (const chunk of chunksByProject(locked)) {
    const project_id = projectOf(chunk)
    const hints = chunk.map(({ conversation_id, started_at }) => ({
      conversation_id,
      from: nsFrom(started_at),
    }))
    const rollups = await store.conversationRollups(project_id, hints)
    await writeConversations(
      trx,
      rollups.map((rollup) => ({ project_id, rollup })),
    )
  }
}

function keyOf({ project_id, task_id }: { project_id: string; task_id: string }): string {
  return `${project_id} ${task_id}`
}

function projectOf(chunk: readonly { project_id: string }[]): string {
  return chunk[0]?.project_id ?? ''
}

function nsFrom(iso: string): bigint {
  return BigInt(Date.parse(iso)) * 1_000_000n
}

/** Runs of one project, none longer than a question may be; the rows come in project order. */
function chunksByProject<T extends { project_id: string }>(rows: readonly T[]): T[][] {
  const chunks: T[][] = []
  for (const row of rows) {
    const last = chunks.at(-1)
    const fits = last && last.length < rollups_max && last[0]?.project_id === row.project_id
    if (fits) last.push(row)
    else chunks.push([row])
  }
  return chunks
}
