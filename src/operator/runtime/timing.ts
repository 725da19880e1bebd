import type { BackOff } from '../../kernel/back-off.ts'
import type { Clock } from '../../kernel/time.ts'

/** The one source of time of the operator: a test sets both, and nothing waits in earnest. */
export type Timing = {
  clock: Clock
  /** Waits, and gives up waiting (without an error) when the signal aborts. */
  sleep: (duration_ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 to below 1; spreads retries and resyncs. */
  random: () => number
}

/** client-go's per-item limiter: 5 ms to 1,000 s, doubled each time. */
export const itemBackoff: BackOff = { base_ms: 5, max_ms: 1_000_000, jitter: 0 }

/** An unavailable service: after 10 s at first, then up to every two minutes. */
export const serviceBackoff: BackOff = { base_ms: 10_000, max_ms: 120_000, jitter: 0.2 }

/** client-go's reflector: 800 ms to 30 s, doubled, with as much again at random. */
export const watchBackoff: BackOff = { base_ms: 800, max_ms: 30_000, jitter: 1 }

/** metav1.MicroTime: six digits below the second. */
export function microTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace('Z', '000Z')
}
