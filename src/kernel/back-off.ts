/** Growth of a wait from attempt to attempt. */
export type BackOff = {
  base_ms: number
  /** Maximum wait before the random part. Without it, the caller must bound the attempts. */
  max_ms?: number
  /** The random part: 0.5 waits 100–150 % of the time, -0.25 waits 75–100 %. Defaults to none. */
  jitter?: number
}

/** Keeps a wait without a maximum finite. Every maximum in use is reached earlier. */
const doublings_max = 30

/**
 * Returns the wait in whole milliseconds after an attempt (1 is the first), doubled each time up to
 * the maximum. A positive jitter may exceed the maximum, which spreads the callers that reached it.
 */
export function backOff(
  { base_ms, max_ms = Number.POSITIVE_INFINITY, jitter = 0 }: BackOff,
  attempt: number,
  random: () => number = Math.random,
): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), doublings_max)
  const wait_ms = Math.min(base_ms * 2 ** doublings, max_ms)
  return Math.round(wait_ms * (1 + random() * jitter))
}
