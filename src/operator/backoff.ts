/** How waiting grows from failure to failure. */
export type Backoff = {
  base_ms: number
  max_ms: number
  /** Part of the wait that is random: 0.5 waits 100 to 150 % of it. */
  jitter: number
}

/** client-go's per-item limiter: 5 ms to 1,000 s, doubled each time. */
export const itemBackoff: Backoff = { base_ms: 5, max_ms: 1_000_000, jitter: 0 }

/** A service that is down is asked each ten seconds at first, then every other minute. */
export const serviceBackoff: Backoff = { base_ms: 10_000, max_ms: 120_000, jitter: 0.2 }

/** client-go's reflector: 800 ms to 30 s, doubled, with as much again at random. */
export const watchBackoff: Backoff = { base_ms: 800, max_ms: 30_000, jitter: 1 }

/** Beyond that many doublings every maximum here is reached. */
const doublings_max = 30

/**
 * The wait after a number of failures (1 is the first), doubled each time up to the maximum. It may
 * end above the maximum by the jitter, so that those who reached it are spread too.
 */
export function backoffOf(backoff: Backoff, failures: number, random: () => number): number {
  const doublings = Math.min(Math.max(failures - 1, 0), doublings_max)
  const wait_ms = Math.min(backoff.base_ms * 2 ** doublings, backoff.max_ms)
  return Math.round(wait_ms * (1 + random() * backoff.jitter))
}
