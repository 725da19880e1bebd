import { runDetectors } from '../analyse/run-detectors.ts'
import type { ContextMemory, ValueCounts } from '../contract.ts'
import { detectors } from '../detectors/index.ts'
import type { TaskRun } from '../reconstruction/index.ts'
import {
  type DetectionSettings,
  isJudgeOff,
  judgeDetector,
  verificationDetector,
} from '../settings/detector-settings.ts'
import type { NotChecked } from './finding.ts'
import { getFindingId, type NewFinding, toNewFindings } from './new-findings.ts'

/** Results of all detectors on a run. */
export type Analysis = {
  findings: NewFinding[]
  not_checked: NotChecked[]
  /** Detectors that threw because of a bug. */
  failed: readonly { detector: string; error: unknown }[]
  /** Number of detectors that are switched on. */
  checks: number
  /** Values of the answers; null if no detector checked them. */
  values: ValueCounts | null
  /** The calls that each finding wasted, by `finding_id`. */
  wasted_calls: ReadonlyMap<string, readonly number[]>
  /** False for a detector that could not analyse the run completely. */
  wasAnalysed: (detector: string) => boolean
}

/** Runs all enabled detectors; pure. */
export function analyseRun(
  run: TaskRun,
  settings: DetectionSettings,
  prior: ContextMemory | undefined,
): Analysis {
  const options = prior === undefined ? {} : { prior }
  const { findings, not_checked, failed, values, analysed } = runDetectors(run, settings, options)
  const complete = new Set(analysed)
  const all = not_checked.map(({ detector }) => detector)
  const unchecked = new Set(all.filter((detector) => !complete.has(detector)))
  return {
    findings: toNewFindings(run, findings, (type) => detectorOfType.get(type)),
    not_checked,
    failed,
    checks: complete.size + unchecked.size,
    values,
    wasted_calls: new Map(
      findings.flatMap((draft) =>
        draft.wasted_calls === undefined ? [] : [[getFindingId(run, draft), draft.wasted_calls]],
      ),
    ),
    wasAnalysed: (detector) => {
      // The judge's findings stay, unless the project switched it off.
      if (detector === judgeDetector.name) return isJudgeOff(settings)
      return detector !== verificationDetector.name && !unchecked.has(detector)
    },
  }
}

const detectorOfType = new Map(
  detectors.flatMap((detector) => detector.types.map((type) => [type, detector] as const)),
)
