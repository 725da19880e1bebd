import type { Timing } from '../../src/operator/runtime/timing.ts'

/** A clock that a test advances. */
export type ManualTiming = Timing & {
  /** Advances the clock; sleepers whose time has come wake in order. */
  advance(duration_ms: number): Promise<void>
  /** Remaining times of the sleepers, shortest first. */
  sleepers(): number[]
}

/** Starts at 2026-01-01; `random` is constant. */
export function manualTiming(random = 0): ManualTiming {
  let now_ms = Date.UTC(2026, 0, 1)
  const sleeping = new Set<{ until_ms: number; wake: () => void }>()
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    clock: { now_ms: () => now_ms },
    random: () => random,
    sleep: (duration_ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          sleeping.delete(sleeper)
          resolve()
        }
        const sleeper = { until_ms: now_ms + duration_ms, wake }
        sleeping.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      }),
    sleepers: () =>
      [...sleeping].map(({ until_ms }) => until_ms - now_ms).toSorted((a, b) => a - b),
    advance: async (duration_ms) => {
      const end_ms = now_ms + duration_ms
      await settle()
      for (;;) {
        const [next] = [...sleeping].toSorted((a, b) => a.until_ms - b.until_ms)
        if (next === undefined || next.until_ms > end_ms) break
        now_ms = Math.max(now_ms, next.until_ms)
        next.wake()
        await settle()
      }
      now_ms = end_ms
      await settle()
    },
  }
}
