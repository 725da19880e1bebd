import type { TaskRollup } from '../../storage/index.ts'
import { isoFromMs, msFromNs, type TouchedTask } from './touched.ts'

/** The state columns of a task. Instants are ISO 8601. */
export type TaskState = {
  implicit: boolean
  state: 'running' | 'completed' | 'failed'
  ended_at: string | null
  ended_by: string | null
  late_activity: boolean
}

/** The value of `ended_by` for a task without X-Task-ID, which ends with its calls. */
const endedByCall = 'call'

/** The state of a task before its first call. */
export const newTaskState: TaskState = {
  implicit: true,
  state: 'running',
  ended_at: null,
  ended_by: null,
  late_activity: false,
}

/**
 * Returns the state of a task after a batch. A task that a user or client ended stays ended, and
 * records later calls as late activity. A task without X-Task-ID follows the call that ended last;
 * any other task is running. The same batch again gives the same state.
 */
export function taskStateAfter(
  locked: TaskState,
  touched: TouchedTask,
  rollup: Pick<TaskRollup, 'implicit'>,
): TaskState {
  const { ended_at, ended_by, state } = locked
  const implicit = locked.implicit && rollup.implicit
  if (ended_at !== null && ended_by !== endedByCall) {
    const late_activity = locked.late_activity || lateStart(locked, touched) !== undefined
    return { implicit, state, ended_at, ended_by, late_activity }
  }
  const { late_activity } = locked
  if (!implicit)
    return { implicit, state: 'running', ended_at: null, ended_by: null, late_activity }
  const ended_ms = msFromNs(touched.last_end)
  const isOlder = ended_at !== null && ended_ms < Date.parse(ended_at)
  if (isOlder) return { implicit, state, ended_at, ended_by, late_activity }
  return {
    implicit,
    state: touched.last_status === 'ok' ? 'completed' : 'failed',
    ended_at: isoFromMs(ended_ms),
    ended_by: endedByCall,
    late_activity,
  }
}

/** Returns the start of the first call after the task was ended; undefined without such a call. */
export function lateStart(locked: TaskState, touched: TouchedTask): number | undefined {
  const { ended_at, ended_by } = locked
  if (ended_at === null || ended_by === endedByCall) return undefined
  const ended_ms = Date.parse(ended_at)
  const late = touched.rows
    .map(({ start_time }) => msFromNs(start_time))
    .filter((start_ms) => start_ms > ended_ms)
  return late.length === 0 ? undefined : Math.min(...late)
}
