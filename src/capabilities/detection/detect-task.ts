import type { DetectionDeps } from './detection-deps.ts'
import type { Finding, FindingChanges, NotChecked } from './findings/finding.ts'

/** Which task, as it is stored (see `taskNamed` of tasks for what clients call it). */
export type DetectedTask = { project_id: string; task_id: string }

export type DetectOptions = {
  /** Only what these detectors find is changed; all of them when left out. */
  detectors?: readonly string[]
  /** Look also when nothing has come since the last time. */
  force?: boolean
  /** Aborts when nobody waits for the answer any more. */
  signal?: AbortSignal
}

/** What a task's detection came to. */
export type DetectionResult = {
  /** False: nothing had come since the last detection, whose result this is. */
  detected: boolean
  changes: FindingChanges
  /** All of the task that are not withdrawn, in the order in which they began. */
  findings: readonly Finding[]
  not_checked: readonly NotChecked[]
  /** ISO 8601; of the result. */
  detected_at: string
}

/**
 * Looks for trouble in one task and stores what it finds: what the worker does after each call, for
 * those who can't wait for it. Rejects with `task_not_found` for a task that is not there,
 * `store_unavailable`, and `overloaded` when others write to the task again and again.
 */
export async function detectTask(
  _deps: DetectionDeps,
  { task_id }: DetectedTask,
  _options: DetectOptions = {},
): Promise<DetectionResult> {
  throw new TypeError(`not there yet: ${task_id}`)
}
