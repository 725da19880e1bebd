export { findingKinds, severities } from './contract.ts'
export {
  type DetectedTask,
  type DetectionResult,
  type DetectOptions,
  detectTask,
} from './detect-task.ts'
export type { DetectionDb, DetectionDeps } from './detection-deps.ts'
export { detectionRoutes } from './detection-routes.ts'
export type { Finding, FindingChanges, NotChecked } from './findings/finding.ts'
export {
  findingSchema,
  findingStates,
  notCheckedSchema,
  type ShownFinding,
  shownFinding,
} from './findings/finding-record.ts'
export { openFindingsRetention } from './findings/findings-retention.ts'
export { detectionOf, findingsOf } from './findings/store.ts'
export { severityNumber } from './findings/task-verdict.ts'
export { type ContextJudge, type JudgeSettings, openJudge } from './judge/index.ts'
export { readTaskRun, startSlack_ms } from './read-task-run.ts'
export { detectors } from './registry.ts'
export type { DetectionWork } from './worker/detection-settings.ts'
export { markDue } from './worker/due-tasks.ts'
export {
  type DetectionOptions,
  type RunningDetection,
  startDetection,
} from './worker/start-detection.ts'
