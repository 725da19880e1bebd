import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { ContextJudge } from './judge/context-judge.ts'
import { defaultJudgeWork, type JudgeWork } from './judge/judge-task.ts'
import { planJudging } from './judge/question.ts'
import { startJudging } from './judge/start-judging.ts'
import type { DetectionPorts } from './ports.ts'
import {
  type DetectionWork,
  defaultDetectionWork,
  detectionMeters,
} from './worker/detection-work.ts'
import { startWorker } from './worker/start-worker.ts'
import { HistoryCache } from './worker/task-history.ts'

/** Ports and settings of the detection of a process. */
export type DetectionOptions = DetectionPorts & {
  logger: Logger
  metrics: Metrics
  /** A model to ask about context; without it no question is sent. */
  judge?: ContextJudge | undefined
  settings?: Partial<DetectionWork>
  judging?: Partial<JudgeWork>
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
