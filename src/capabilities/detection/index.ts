import type { Route } from '../../platform/http/index.ts'
import type { Wakes } from '../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { ContextJudge } from './judge/context-judge.ts'
import { defaultJudgeWork, type JudgeWork, startJudging } from './judge/judge-task.ts'
import { planJudging } from './judge/question.ts'
import type { DetectionPorts } from './ports.ts'
import { previewDetectionSettings } from './preview.ts'
import { detectionSettingsRoutes } from './settings/settings.ts'
import {
  type DetectionWork,
  defaultDetectionWork,
  detectionMeters,
} from './worker/detection-work.ts'
import { startWorker } from './worker/start-worker.ts'
import { HistoryCache } from './worker/task-history.ts'

export {
  analyseNow,
  type DetectionResult,
  startSlackMs,
} from './analyse-now.ts'
export { findingKinds, severities } from './contract.ts'
export { detectors } from './detectors/index.ts'
export {
  openClaimFindings,
  type VerifiedAnswer,
} from './findings/claim-findings.ts'
export {
  type Finding,
  findingSchema,
  findingStates,
  notCheckedSchema,
  shownFinding,
  toStepNumber,
} from './findings/finding.ts'
export { expireClaimFindings, openFindingsRetention } from './findings/findings-retention.ts'
export { detectionOf, findingsOf, findingsOfTasks } from './findings/findings-store.ts'
export { indexMarks, type MarksAt, markFields } from './findings/place-marks.ts'
export { markDue, markKnownDue } from './findings/tasks-store.ts'
export { severityNumber } from './findings/verdict.ts'
export { type ContextJudge, openJudge } from './judge/context-judge.ts'
export type { DetectionDb, DetectionPorts, OnFindings } from './ports.ts'
export { openRunReader } from './read-run.ts'
export { type HistoryMessage, readAnswer, readHistory } from './reconstruction/index.ts'
export { readContents } from './worker/content-chunks.ts'

/** Returns the routes under `/api/v1/detection`. */
export function detectionRoutes(ports: DetectionPorts): Route[] {
  return [...detectionSettingsRoutes(ports), previewDetectionSettings(ports)]
}

/** Ports and settings of the detection of a process. */
export type DetectionOptions = DetectionPorts & {
  logger: Logger
  metrics: Metrics
  /** A model to ask about context; without it no question is sent. */
  judge?: ContextJudge | undefined
  settings?: Partial<DetectionWork>
  judging?: Partial<JudgeWork>
  /** Announcements of due tasks. Without them, it polls. */
  wakes?: Wakes | undefined
}

/** The running detection of a process. */
export type RunningDetection = {
  /** Finishes the tasks of the current project, releases the other claims, and resolves. */
  stop(): Promise<void>
}

/** Starts the worker that analyses due tasks and, where a judge is set, the loop that asks it. */
export function startDetection(options: DetectionOptions): RunningDetection {
  const { judge, metrics } = options
  const settings = { ...defaultDetectionWork, ...options.settings }
  const judging = { ...defaultJudgeWork, ...options.judging }
  const cache = new HistoryCache(settings)
  const ports = { ...options, settings, cache, meters: detectionMeters(metrics) }
  const worker = startWorker({
    ...ports,
    ...(judge && { planJudging: (analysis) => planJudging(analysis, judging.rest_ms) }),
  })
  const judgingLoop = judge && startJudging({ ...ports, judge, work: judging })
  return {
    stop: async () => {
      await Promise.all([worker.stop(), judgingLoop?.stop()])
    },
  }
}
