import type { Clock } from '../kernel/time.ts'

/** The one source of time of the operator: a test sets both, and nothing waits in earnest. */
export type Timing = {
  clock: Clock
  /** Waits, and gives up waiting (without an error) when the signal aborts. */
  sleep: (duration_ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 to below 1; spreads retries and resyncs. */
  random: () => number
}
