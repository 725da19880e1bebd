import { createWorkBudget } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import type { Detector, FindingDraft } from '../../src/capabilities/detection/contract.ts'
import { reconstruct, type TaskRun } from '../../src/capabilities/detection/reconstruction/index.ts'
import type { Observation } from '../../src/model/observation.ts'

/** Reconstructs the run of one task from observations. */
export function runOf({ observations }: { observations(): readonly Observation[] }): TaskRun {
  const rows = observations()
  const { project_id = '', task_id = '', conversation_id = '' } = rows[0] ?? {}
  return reconstruct(rows, { project_id, task_id, conversation_id })
}

/** The findings of one detector in a run; `thresholds` override the defaults. */
export function foundBy(
  detector: Detector,
  run: { observations(): readonly Observation[] },
  thresholds: Record<string, unknown> = {},
): FindingDraft[] {
  const settings = detector.settings.parse(thresholds)
  return detector.detect(runOf(run), settings, createWorkBudget({ units_max: 1_000_000 }))
}
