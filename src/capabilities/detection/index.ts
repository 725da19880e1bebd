import type { Route } from '../../platform/http/index.ts'
import type { DetectionPorts } from './ports.ts'
import { previewDetectionSettings } from './preview.ts'
import { getDetectionSettings, putDetectionSettings } from './settings/settings.ts'

export {
  analyseTask,
  type DetectedTask,
  type DetectionResult,
  type DetectOptions,
} from './analyse-task.ts'
export { findingKinds, severities } from './contract.ts'
export { detectors } from './detectors/index.ts'
export { detectionOf } from './findings/detections-store.ts'
export { markDue } from './findings/due-tasks.ts'
export {
  type Finding,
  type FindingChanges,
  findingSchema,
  findingStates,
  type NotChecked,
  notCheckedSchema,
  type ShownFinding,
  shownFinding,
} from './findings/finding.ts'
export { openFindingsRetention } from './findings/findings-retention.ts'
export { findingsOf } from './findings/findings-store.ts'
export { severityNumber } from './findings/verdict.ts'
export type { ContextJudge, JudgeSettings } from './judge/context-judge.ts'
export { openJudge } from './judge/open-judge.ts'
export type { DetectionDb, DetectionPorts } from './ports.ts'
export {
  type DetectionOptions,
  type RunningDetection,
  startDetection,
} from './start-detection.ts'
export type { DetectionWork } from './worker/detection-work.ts'
export { readTaskRun, startSlack_ms } from './worker/read-histories.ts'

/** Returns the routes under `/api/v1/detection`. */
export function detectionRoutes(ports: DetectionPorts): Route[] {
  return [getDetectionSettings(ports), putDetectionSettings(ports), previewDetectionSettings(ports)]
}
