import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { type Queue, QueueUnavailable } from '../../../platform/queue/index.ts'
import type { Signals } from '../ports.ts'

/** Time for which an answer is used again. */
const fresh_ms = 2_000
const projects_max = 10_000

/** Time that edges have, after an outage of the queue, to publish what they spooled. */
const drain_ms = 60_000

type QueueAge = Pick<Queue, 'oldestAgeMs'>

/**
 * Opens the lag of projects: the age of the oldest message of the project in the queue. A message
 * remains in the queue until its items are stored and settled in the ledger, so this is the age of
 * the oldest pending item, and a backlog of another project does not count. While the queue is
 * unavailable, edges spool; the lag is then the time since it answered last, and remains so for a
 * minute after its return, until the spools are published.
 */
export function openLag(queue: QueueAge): Signals['lag'] {
  const known = new BoundedCache<string, { at_ms: number; lag_ms: Promise<number> }>(projects_max)
  /** The last answer before an outage, and the first one after it. */
  let answered_ms: number | undefined
  let outage: { since_ms: number; until_ms: number } | undefined
  const ask = async (project_id: string, now_ms: number): Promise<number> => {
    try {
      const age_ms = await queue.oldestAgeMs(`ingest.${project_id}`)
      answered_ms = Math.max(answered_ms ?? 0, now_ms)
      if (outage === undefined) return age_ms
      if (outage.until_ms === Number.POSITIVE_INFINITY) outage.until_ms = now_ms + drain_ms
      if (now_ms < outage.until_ms) return Math.max(age_ms, now_ms - outage.since_ms)
      outage = undefined
      return age_ms
    } catch (error) {
      if (!(error instanceof QueueUnavailable)) throw error
      outage = {
        since_ms: outage?.since_ms ?? answered_ms ?? now_ms - drain_ms,
        until_ms: Number.POSITIVE_INFINITY,
      }
      return now_ms - outage.since_ms
    }
  }
  return (project_id, now_ms) => {
    const cached = known.get(project_id)
    const age_ms = cached === undefined ? fresh_ms : now_ms - cached.at_ms
    if (cached !== undefined && age_ms >= 0 && age_ms < fresh_ms) return cached.lag_ms
    const lag_ms = ask(project_id, now_ms)
    known.set(project_id, { at_ms: now_ms, lag_ms })
    lag_ms.catch(() => known.delete(project_id))
    return lag_ms
  }
}
