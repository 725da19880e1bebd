import type { ContextLedger } from './context/ledger.ts'
import { detectAll } from './detect.ts'
import type { NotChecked } from './findings/finding.ts'
import { type NewFinding, newFindings } from './findings/new-findings.ts'
import { isJudgeOff, judgeDetector } from './judge/judge-detector.ts'
import type { TaskRun } from './reconstruction/contract.ts'
import { type DetectionSettings, detectors } from './registry.ts'

/** What all detectors say of a run. */
export type Examination = {
  findings: NewFinding[]
  not_checked: NotChecked[]
  /** Detectors that threw, which is a defect of theirs. */
  failed: readonly { detector: string; error: unknown }[]
  /** False for a detector that could not look, or not at all of it. */
  wasChecked: (detector: string) => boolean
}

/** Runs all detectors that are on; pure. */
export function examineRun(
  run: TaskRun,
  settings: DetectionSettings,
  prior: ContextLedger | undefined,
): Examination {
  const about = prior === undefined ? {} : { prior }
  const { findings, not_checked, failed } = detectAll(run, settings, about)
  const unchecked = new Set(not_checked.map(({ detector }) => detector))
  return {
    findings: newFindings(run, findings, (type) => detectorOfType.get(type)),
    not_checked,
    failed,
    // What the judge found stays, whatever the rules find, as long as the project wants it.
    wasChecked: (detector) =>
      detector === judgeDetector.name ? isJudgeOff(settings) : !unchecked.has(detector),
  }
}

/** Changes whenever a detector comes, goes, or finds something else. */
export const detectorsDigest: string = detectors
  .map(({ name, version }) => `${name}@${version}`)
  .join(' ')

const detectorOfType = new Map(
  detectors.flatMap((detector) => detector.types.map((type) => [type, detector] as const)),
)
