import { readTaskRun, startSlack_ms } from '../detection/index.ts'
import type { ObservationStore, TaskPage, TimelineRow } from '../storage/index.ts'
import { createTimelineBuilder, type PlacedEntry } from './build-timeline.ts'
import { findTaskEvents, type TaskEventRow, type TaskRow } from './store.ts'
import type { TaskDeps } from './task-deps.ts'

/** Observations of a task that its timeline covers: some 50 MB while a request is answered. */
export const timelineObservations_max = 10_000

/** Events of a task that are read; it has three, and one for each late call. */
const events_max = 1000
const textLength_max = 2000

/**
 * Reads a task's whole timeline. The task's run, which joins tool calls and results, is read behind
 * the rows, so that it knows all of them. `is_complete` is false when the task has more than
 * `timelineObservations_max` observations. Throws `store_unavailable`.
 */
export async function readTimeline(
  { db, store }: Pick<TaskDeps, 'db' | 'store'>,
  task: TaskRow,
  { gap_min_ms, signal }: { gap_min_ms: number; signal: AbortSignal },
): Promise<{ entries: PlacedEntry[]; is_complete: boolean }> {
  const builder = createTimelineBuilder({ gap_min_ms, text_length_max: textLength_max })
  const stored = await findTaskEvents(db, task.project_id, task.task_id, events_max)
  const events = stored.map((event) => createdWithTask(event, task))
  let read = 0
  const finish = async (is_complete: boolean) => {
    const run = read === 0 ? { tools: [] } : await readTaskRun(store, runAbout(task), signal)
    return { entries: builder.finish(run, events), is_complete }
  }
  for await (const rows of portionsOf(store, task)) {
    const taken = rows.slice(0, timelineObservations_max - read)
    builder.add(taken)
    read += taken.length
    if (taken.length < rows.length) return finish(false)
    signal.throwIfAborted()
  }
  return finish(true)
}

/** Returns what the reading of a task's run starts from. */
export function runAbout({ project_id, task_id, conversation_id, started_at, calls }: TaskRow) {
  return { project_id, task_id, conversation_id: conversation_id ?? '', started_at, calls }
}

/**
 * Moves the `created` event to the start of the task. The event keeps the start of the batch that
 * was stored first, and a batch with earlier calls may be stored after it.
 */
function createdWithTask(event: TaskEventRow, { started_at }: TaskRow): TaskEventRow {
  const isLater = Date.parse(event.at) > Date.parse(started_at)
  return event.kind === 'created' && isLater ? { ...event, at: started_at } : event
}

/**
 * The store reads a task's later rows anew for each portion, so few large ones are quick; but a row
 * may carry many long tool results. So the size of the next portion follows from the rows before.
 */
async function* portionsOf(store: ObservationStore, task: TaskRow): AsyncGenerator<TimelineRow[]> {
  const { project_id, task_id, started_at } = task
  const from = BigInt(Math.max(0, Date.parse(started_at) - startSlack_ms)) * 1_000_000n
  let page: TaskPage = { from, limit: portionRows_first }
  for (let read = 0; read <= timelineObservations_max; ) {
    const rows = await store.taskObservations(project_id, task_id, page)
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < page.limit) return
    const { start_time, observation_id } = last
    page = { from, after: { start_time, observation_id }, limit: rowsThatFit(rows) }
    read += rows.length
  }
}

const portionRows_first = 500
const portionRows_max = 5_000
const portionRows_min = 50
/** Characters of text in a portion, about. */
const portionText_chars = 16 * 1024 * 1024

function rowsThatFit(rows: readonly TimelineRow[]): number {
  const chars = rows.reduce((sum, row) => sum + textOf(row), 0)
  const fit = Math.floor((portionText_chars * rows.length) / Math.max(1, chars))
  return Math.max(portionRows_min, Math.min(portionRows_max, fit))
}

function textOf({ tool_calls, tool_results, attributes }: TimelineRow): number {
  let chars = 0
  for (const call of tool_calls) chars += call.arguments.length
  for (const result of tool_results) chars += result.content.length
  for (const name in attributes) chars += attributes[name]?.length ?? 0
  return chars
}
