import { BoundedCache } from '../../kernel/bounded-cache.ts'

/** Limits how many refused calls are recorded, so that a flood does not fill the store. */
export type RefusalLimit = {
  /**
   * `suppressed` is the number of calls that were only counted since the last recorded call,
   * including the calls `carried` from another limit.
   */
  take(actor: string, now_ms: number, carried?: number): { allowed: boolean; suppressed: number }
}

const minute_ms = 60_000
const actors_max = 10_000

/** Creates a limit of recorded refused calls for each actor and minute. 0: no limit. */
export function createRefusalLimit(per_minute_max: number): RefusalLimit {
  const counts = new BoundedCache<string, { minute: number; taken: number; suppressed: number }>(
    actors_max,
  )
  return {
    take: (actor, now_ms, carried = 0) => {
      const minute = Math.floor(now_ms / minute_ms)
      const known = counts.get(actor)
      const count = known ?? { minute, taken: 0, suppressed: 0 }
      if (known === undefined) counts.set(actor, count)
      count.suppressed += carried
      if (count.minute !== minute) Object.assign(count, { minute, taken: 0 })
      if (per_minute_max > 0 && count.taken >= per_minute_max) {
        count.suppressed++
        return { allowed: false, suppressed: 0 }
      }
      count.taken++
      const { suppressed } = count
      count.suppressed = 0
      return { allowed: true, suppressed }
    },
  }
}
