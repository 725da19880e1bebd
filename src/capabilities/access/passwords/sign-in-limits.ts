/** Bounds the failed attempts that are counted under one key. */
export type LimitRule = {
  /** Attempts without a wait. */
  free: number
  /** Time after which one attempt is forgotten. */
  leak_ms: number
  /** Wait after the last free attempt. Each further attempt doubles it. */
  wait_ms: number
  wait_ms_max: number
  /** Attempts at which the count stops, so that it is forgotten in a bounded time. */
  count_max: number
}

/**
 * A stored count: the time of the last attempt, and the time at which all attempts are forgotten.
 * The count at a time is the rest until `clear_at_ms`, in units of `leak_ms`.
 */
export type AttemptCount = { failed_at_ms: number; clear_at_ms: number }

/** Returns the milliseconds until the next attempt is allowed; 0 if it is allowed now. */
export function findWait(count: AttemptCount | undefined, rule: LimitRule, now_ms: number): number {
  if (count === undefined || count.clear_at_ms <= now_ms) return 0
  const attempts = Math.ceil((count.clear_at_ms - count.failed_at_ms) / rule.leak_ms)
  if (attempts < rule.free) return 0
  const wait_ms = Math.min(rule.wait_ms * 2 ** (attempts - rule.free), rule.wait_ms_max)
  // Clocks of other processes may be ahead. The wait never exceeds its maximum.
  return Math.max(0, Math.min(count.failed_at_ms + wait_ms - now_ms, wait_ms))
}

/**
 * Adds an attempt. Concurrent attempts are added in any order: one that began a moment earlier does not
 * take back the time of the last one, from which the others are counted.
 */
export function addAttempt(
  count: AttemptCount | undefined,
  rule: LimitRule,
  now_ms: number,
): AttemptCount {
  const from_ms = Math.max(count?.clear_at_ms ?? 0, now_ms)
  const last_ms = now_ms + rule.count_max * rule.leak_ms
  const failed_at_ms = Math.max(count?.failed_at_ms ?? 0, now_ms)
  return { failed_at_ms, clear_at_ms: Math.min(from_ms + rule.leak_ms, last_ms) }
}

const seconds = 1_000
const minutes = 60 * seconds

/**
 * Attempts on one account from one network. The wait grows to 15 minutes, which allows about 100
 * guesses a day.
 */
const pair: LimitRule = {
  free: 10,
  leak_ms: 30 * minutes,
  wait_ms: seconds,
  wait_ms_max: 15 * minutes,
  count_max: 24,
}

/** Attempts from one network on all accounts: one password tried on many accounts. */
const network: LimitRule = {
  free: 30,
  leak_ms: 10 * minutes,
  wait_ms: seconds,
  wait_ms_max: 15 * minutes,
  count_max: 50,
}

/**
 * Attempts on one account from all networks. The waits are short, because a person at a new network
 * waits too.
 */
const account: LimitRule = {
  free: 100,
  leak_ms: minutes,
  wait_ms: seconds,
  wait_ms_max: minutes,
  count_max: 120,
}

/** Requests for a mail with a reset link, from one network: 10 at once, then 10 an hour. */
const reset: LimitRule = {
  free: 10,
  leak_ms: 6 * minutes,
  wait_ms: 6 * minutes,
  wait_ms_max: 6 * minutes,
  count_max: 10,
}

export const limitRules = { pair, network, account, reset } as const
