import type { Clock } from '../../kernel/time.ts'
import type { ContextJudge, DetectionDb } from '../detection/index.ts'
import type { ObservationStore } from '../storage/index.ts'

/** What the routes of tasks and conversations need. */
export type TaskDeps = {
  db: DetectionDb
  store: ObservationStore
  clock: Clock
  settings: TaskSettings
  /** A model that is asked about context where somebody forces a detection. */
  judge?: ContextJudge | undefined
}

export type TaskSettings = {
  /** A running task without a call for longer reads `stalled`. */
  stalled_after_ms: number
  /**
   * How long complete and fail wait for a task that the worker has not written yet. Left out,
   * 2,000: the time within which every call is to be readable.
   */
  arrival_wait_ms?: number
}
