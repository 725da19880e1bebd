import { createWorkBudget } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import type { Detector, FindingDraft } from '../../src/capabilities/detection/contract.ts'
import type { TaskRun } from '../../src/capabilities/detection/reconstruction/contract.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import type { AgentRun } from '../corpus/agent-run.ts'

export type Looked = {
  /** Where the task's record is. */
  state?: 'running' | 'completed' | 'failed'
  /** Thresholds that override the defaults. */
  settings?: Record<string, unknown>
}

/** The findings of one detector in a handwritten run. */
export function findingsOf(detector: Detector, run: AgentRun, looked: Looked = {}): FindingDraft[] {
  const settings = detector.settings.parse(looked.settings ?? {})
  return detector.detect(
    runOf(run, looked.state),
    settings,
    createWorkBudget({ units_max: 1_000_000 }),
  )
}

/** The run as detectors read it. */
export function runOf(run: AgentRun, state?: Looked['state']): TaskRun {
  const built = reconstruct(run.observations())
  return state === undefined ? built : { ...built, state }
}

/** Findings with at least medium severity. */
export function serious(findings: readonly FindingDraft[]): FindingDraft[] {
  return findings.filter(({ severity }) => severity !== 'info' && severity !== 'low')
}
