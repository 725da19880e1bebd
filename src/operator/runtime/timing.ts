import type { BackOff } from '../../kernel/back-off.ts'
import type { Clock } from '../../kernel/time.ts'

/** The operator's only source of time and randomness, so that tests control both. */
export type Timing = {
  clock: Clock
  /** Waits. Resolves early, without an error, when the signal aborts. */
  sleep: (duration_ms: number, signal?: AbortSignal) => Promise<void>
  /** Returns a number from 0 to below 1; spreads retries and resyncs. */
  random: () => number
}

/** Back-off of a key: 5 ms to 1,000 s, doubled each time, as client-go's per-item limiter. */
export const itemBackoff: BackOff = { base_ms: 5, max_ms: 1_000_000, jitter: 0 }

/** Back-off while the service is unavailable: 10 s to 2 min, doubled each time. */
export const serviceBackoff: BackOff = { base_ms: 10_000, max_ms: 120_000, jitter: 0.2 }

/** Back-off of a watch, as client-go's reflector: 800 ms to 30 s, doubled, up to 100 % jitter. */
export const watchBackoff: BackOff = { base_ms: 800, max_ms: 30_000, jitter: 1 }

/** Formats a time as metav1.MicroTime, with six digits below the second. */
export function microTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace('Z', '000Z')
}
