import { newId } from '../../../kernel/ids.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import { type ClaimedTask, claimDue, countDue, releaseClaims } from '../findings/due-tasks.ts'
import type { DetectionDb } from '../ports.ts'
import { analyseClaimed, type WorkPorts } from './analyse-claimed.ts'
import type { HistoryCache } from './task-history.ts'

/** Due tasks counted for the gauge; the gauge stops at this number. */
const countedDue_max = 10_000

/** The longest rest after analysing a large task, so that other tasks do not wait longer. */
const loopRest_ms_max = 2_000

/**
 * Analyses tasks as they become due, until it is stopped. Several processes can run it: each claims
 * some tasks under a lease. The tasks of a killed process are due again when its lease expires.
 */
export function startWorker(ports: WorkPorts & { metrics: Metrics }): { stop(): Promise<void> } {
  const { db, logger, metrics, settings, cache } = ports
  watchDue(db, metrics, cache)
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const start_ms = performance.now()
      const pause_ms = await analyseDue(ports, stopping.signal).then(
        (hadTasks) => (hadTasks ? undefined : settings.poll_ms),
        (error: unknown) => {
          logger.warn({ err: error }, 'analysing due tasks failed; they stay due')
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
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

/** Claims some due tasks and analyses them project by project; false when no task is due. */
async function analyseDue(ports: WorkPorts, stopping: AbortSignal): Promise<boolean> {
  const { db, settings } = ports
  const claim = newId()
  const { lease_ms, claim_tasks_max: limit } = settings
  const claimed = await claimDue(db, { claim, lease_ms, limit })
  if (claimed.length === 0) return false
  try {
    for (const [project_id, tasks] of groupByProject(claimed)) {
      if (stopping.aborted) break
      await analyseClaimed(ports, project_id, tasks)
    }
  } finally {
    // Releases the tasks that were not analysed; if this fails too, their lease expires.
    await releaseClaims(db, claimed)
  }
  return true
}

function groupByProject(claimed: readonly ClaimedTask[]): Map<string, ClaimedTask[]> {
  return Map.groupBy(claimed, ({ project_id }) => project_id)
}

function watchDue(db: DetectionDb, metrics: Metrics, cache: HistoryCache): void {
  metrics.gauge({
    name: 'looptrace_detection_due_tasks',
    help: 'Tasks due for analysis, over all processes; counted up to 10,000.',
    collect: async (gauge) => gauge.set((await countDue(db, countedDue_max)).tasks),
  })
  metrics.gauge({
    name: 'looptrace_detection_cache_bytes',
    help: 'Approximate memory of the task histories that this process caches.',
    collect: (gauge) => gauge.set(cache.bytes),
  })
}
