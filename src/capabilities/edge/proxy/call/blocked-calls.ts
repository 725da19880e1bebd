import type { Call } from './call.ts'
import type { SlotList } from './slot-list.ts'

/** How often calls are looked at, at most; and a tenth of the time-out when that is shorter. */
const look_ms_max = 5_000

/**
 * Ends calls whose client has not read for `idle_timeout_ms`: undici stops its own clock while an
 * answer is held back, and would wait for ever. One timer for all calls.
 */
export function watchBlockedCalls(
  calls: SlotList<Call>,
  idle_timeout_ms: number,
): { stop(): void } {
  const look = () => {
    const before_ms = performance.now() - idle_timeout_ms
    for (const call of calls.all()) {
      if (call.blockedSince_ms !== 0 && call.blockedSince_ms < before_ms) call.abandon()
    }
  }
  const timer = setInterval(look, Math.min(look_ms_max, Math.ceil(idle_timeout_ms / 10)))
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
