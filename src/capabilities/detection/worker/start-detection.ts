import { newId } from '../../../kernel/ids.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { DetectionDeps } from '../detection-deps.ts'
import { defaultJudgeWork, type JudgeWork } from '../judge/judge-work.ts'
import { startJudging } from '../judge/start-judging.ts'
import { detectClaimed, type WorkPorts } from './detect-claimed.ts'
import { detectionMeters } from './detection-meters.ts'
import { type DetectionWork, defaultDetectionWork } from './detection-settings.ts'
import { type ClaimedTask, claimDue, countDue, releaseClaims } from './due-tasks.ts'
import { HistoryCache } from './history-cache.ts'

export type DetectionOptions = DetectionDeps & {
  logger: Logger
  metrics: Metrics
  settings?: Partial<DetectionWork>
  judging?: Partial<JudgeWork>
}

/** The detection of a process. */
export type RunningDetection = {
  /** Lets the tasks of one project end that are under way, gives the others back, and resolves. */
  stop(): Promise<void>
}

/** Tasks counted for the gauge; more than that reads as so many. */
const countedDue_max = 10_000

/**
 * Looks at tasks as they become due, until it is stopped. Several processes may do so: each claims
 * some, for a while. What a killed one had claimed is due again when its lease is over.
 */
export function startDetection(options: DetectionOptions): RunningDetection {
  const { db, logger, metrics } = options
  const settings = { ...defaultDetectionWork, ...options.settings }
  const cache = new HistoryCache(settings)
  const judging = { ...defaultJudgeWork, ...options.judging }
  const ports = { ...options, settings, judging, cache, meters: detectionMeters(metrics) }
  watchDue(db, metrics, cache)
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const start_ms = performance.now()
      const pause_ms = await detectSome(ports, stopping.signal).then(
        (found) => (found ? undefined : settings.poll_ms),
        (error: unknown) => {
          logger.warn({ err: error }, 'tasks could not be looked at; they stay due')
          return settings.retry_ms
        },
      )
      const took_ms = performance.now() - start_ms
      ports.meters.busy.inc(took_ms / 1_000)
      cache.dropIdle(ports.clock.now_ms())
      const rest_ms = (took_ms * (1 - settings.busy_share)) / settings.busy_share
      await sleep(pause_ms ?? Math.min(rest_ms, loopRest_ms_max), stopping.signal)
    }
  }
  const ended = loop()
  const { judge } = options
  const asking = judge && startJudging({ ...ports, judge, work: judging })
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all([ended, asking?.stop()])
    },
  }
}

/** Longer than that nobody has to wait because a large task was looked at. */
const loopRest_ms_max = 2_000

/** Claims some tasks and looks at them, project by project; false when none is due. */
async function detectSome(
  ports: WorkPorts & { logger: Logger },
  stopping: AbortSignal,
): Promise<boolean> {
  const { db, settings } = ports
  const claim = newId()
  const { lease_ms, claim_tasks_max: limit } = settings
  const claimed = await claimDue(db, { claim, lease_ms, limit })
  if (claimed.length === 0) return false
  try {
    for (const [project_id, tasks] of byProject(claimed)) {
      if (stopping.aborted) break
      await detectClaimed(ports, project_id, tasks)
    }
  } finally {
    // Those that were not looked at; when this fails too, the lease runs out.
    await releaseClaims(db, claimed)
  }
  return true
}

function byProject(claimed: readonly ClaimedTask[]): Map<string, ClaimedTask[]> {
  return Map.groupBy(claimed, ({ project_id }) => project_id)
}

function watchDue(db: DetectionDeps['db'], metrics: Metrics, cache: HistoryCache): void {
  metrics.gauge({
    name: 'looptrace_detection_due_tasks',
    help: 'Tasks that wait to be looked at, of all processes; counted up to 10,000.',
    collect: async (gauge) => gauge.set((await countDue(db, countedDue_max)).tasks),
  })
  metrics.gauge({
    name: 'looptrace_detection_cache_bytes',
    help: 'Memory of the histories of tasks that this process keeps, about.',
    collect: (gauge) => gauge.set(cache.bytes),
  })
}
