import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { DetectionMeters } from '../worker/detection-work.ts'
import { type JudgePorts, judgeTask } from './judge-task.ts'
import { claimJudgeDue, type JudgeClaim, releaseJudgement } from './judgements.ts'

type Ports = Omit<JudgePorts, 'signal'> & {
  logger: Logger
  meters: Pick<DetectionMeters, 'findings'>
}

/**
 * Asks the judge about due tasks until it is stopped. Detection never waits for it. Failures of the
 * judge lengthen the pause.
 */
export function startJudging(ports: Ports): { stop(): Promise<void> } {
  const { work, logger } = ports
  const stopping = new AbortController()
  const loop = async () => {
    let failures = 0
    while (!stopping.signal.aborted) {
      const came = await judgeSome(ports, stopping.signal).catch((error: unknown) => {
        logger.warn({ err: error }, 'asking the judge failed; tasks stay due')
        return 'failed' as const
      })
      if (came === 'some') failures = 0
      if (came === 'failed') failures += 1
      const retry_ms = backOff({ base_ms: work.retry_ms, max_ms: work.retry_ms_max }, failures)
      if (came !== 'some') await sleep(came === 'failed' ? retry_ms : work.poll_ms, stopping.signal)
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

/** `failed` if no question was answered. */
async function judgeSome(ports: Ports, signal: AbortSignal): Promise<'none' | 'some' | 'failed'> {
  const { db, work } = ports
  const { lease_ms, asks_max: limit } = work
  const claimed = await claimJudgeDue(db, { lease_ms, limit })
  if (claimed.length === 0) return 'none'
  const outcomes = await Promise.all(claimed.map((claim) => judgeOne({ ...ports, signal }, claim)))
  return outcomes.every((outcome) => outcome === 'failed') ? 'failed' : 'some'
}

/**
 * Judges one task; a task that throws is due again after the longest delay and does not affect
 * others.
 */
async function judgeOne(ports: Ports & JudgePorts, claim: JudgeClaim): Promise<string> {
  const { db, work, logger, meters } = ports
  try {
    const { outcome, changes } = await judgeTask(ports, claim)
    for (const change of ['opened', 'updated', 'withdrawn'] as const) {
      const findings = changes?.[change].length ?? 0
      if (findings > 0) meters.findings.inc({ kind: 'context', change }, findings)
    }
    return outcome
  } catch (error) {
    const { project_id, task_id } = claim
    logger.warn({ err: error, project_id, task_id }, 'asking the judge about a task failed')
    // If this fails too, the claim expires.
    await releaseJudgement(db, claim, work.retry_ms_max).catch(() => undefined)
    return 'failed'
  }
}
