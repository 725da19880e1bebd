export {
  type DetectedTask,
  type DetectionResult,
  type DetectOptions,
  detectTask,
} from './detect-task.ts'
export type { DetectionDb, DetectionDeps } from './detection-deps.ts'
export type { Finding, FindingChanges, NotChecked } from './findings/finding.ts'
export { markDue } from './worker/due-tasks.ts'
