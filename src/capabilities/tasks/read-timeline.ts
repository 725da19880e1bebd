import type { TaskPage } from '../observability/stores/index.ts'
import { createTimelineBuilder, type PlacedEntry } from './build-timeline.ts'
import { findTaskEvents, type TaskRow } from './store.ts'
import type { TaskDeps } from './task-deps.ts'

/** Observations of a task that its timeline covers: some 50 MB while a request is answered. */
export const timelineObservations_max = 10_000

/** Observations read at once: each may carry a whole history of tool results. */
const portion = 250
/** Events of a task that are read; it has three, and one for each late call. */
const events_max = 1000
const textLength_max = 2000

/** Stored starts are rounded, and the roll-up that has an earlier call may still be on its way. */
const startSlack_ms = 60 * 60 * 1000

/**
 * Reads a task's whole timeline, in portions. `is_complete` is false when the task has more than
 * `timelineObservations_max` observations. Throws `store_unavailable`.
 */
export async function readTimeline(
  { db, store }: Pick<TaskDeps, 'db' | 'store'>,
  task: TaskRow,
  { gap_min_ms, signal }: { gap_min_ms: number; signal: AbortSignal },
): Promise<{ entries: PlacedEntry[]; is_complete: boolean }> {
  const { project_id, task_id } = task
  const builder = createTimelineBuilder({ gap_min_ms, text_length_max: textLength_max })
  const events = await findTaskEvents(db, project_id, task_id, events_max)
  const from = BigInt(Math.max(0, Date.parse(task.started_at) - startSlack_ms)) * 1_000_000n
  let after: TaskPage['after']
  let read = 0
  let rows = 0
  do {
    const page = { from, limit: portion, ...(after && { after }) }
    const found = await store.taskObservations(project_id, task_id, page)
    builder.add(found)
    const last = found.at(-1)
    if (last) after = { start_time: last.start_time, observation_id: last.observation_id }
    rows = found.length
    read += rows
  } while (rows === portion && read < timelineObservations_max && !signal.aborted)
  return { entries: builder.finish(events), is_complete: rows < portion }
}
