import { sleep } from '../../../src/kernel/time.ts'
import type { Timing } from '../../../src/operator/runtime/timing.ts'

/** A clock that runs faster by a factor: a wait for 10 s takes 10 s of this clock. */
export function scaledTiming(times: number): Timing {
  const start_ms = Date.now()
  return {
    clock: { now_ms: () => Math.round(start_ms + (Date.now() - start_ms) * times) },
    sleep: (duration_ms, signal) => sleep(duration_ms / times, signal),
    random: Math.random,
  }
}
