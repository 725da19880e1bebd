import { BoundedCache } from '../../kernel/bounded-cache.ts'
import { type Problem, problem } from '../../kernel/problem.ts'

/**
 * A decision on a call, with its RateLimit headers as name, value, name, value; none without a
 * limit. A rejection has its error with the seconds to wait.
 */
export type RateDecision =
  | { allowed: true; headers: readonly string[] }
  | { allowed: false; fault: Problem; headers: readonly string[] }

/** Counts the calls of names: of keys, accounts, networks or end users. */
export type RateLimiter = {
  /** Counts a call, unless the name is over its limit. */
  take(name: string, now_ms: number): RateDecision
  /** Takes back a call that `take` counted. */
  giveBack(name: string, now_ms: number): void
}

/** The options of a limiter. */
export type RateLimiterOptions = {
  /** The caller in the error, such as `the key`. */
  subject?: string
  /** Maximum names whose calls are counted. The least recent caller is dropped first. */
  names_max?: number
}

const window_ms = 60_000

/** Maximum names of a limiter: two counters of about 150 bytes each, so 15 MB at most. */
const names_max_default = 50_000

const unlimited: RateLimiter = {
  take: () => ({ allowed: true, headers: [] }),
  giveBack: () => undefined,
}

/**
 * Limits each name to `requests_per_minute` calls over a sliding window: calls of the previous
 * minute count by the share of that minute that is still in the window. Keeps two counters per
 * name, for two minutes, in this process: n processes allow up to n times the calls. 0 sets no
 * limit.
 */
export function createRateLimiter(
  requests_per_minute: number,
  { subject = 'the key', names_max = names_max_default }: RateLimiterOptions = {},
): RateLimiter {
  if (requests_per_minute === 0) return unlimited
  let minute = 0
  let current = new BoundedCache<string, number>(names_max)
  let before = new BoundedCache<string, number>(names_max)
  const turnTo = (now: number) => {
    if (now === minute) return
    before = now === minute + 1 ? current : new BoundedCache(names_max)
    current = new BoundedCache(names_max)
    minute = now
  }
  return {
    giveBack(name, now_ms) {
      turnTo(Math.floor(now_ms / window_ms))
      const counted = current.get(name) ?? 0
      if (counted > 0) current.set(name, counted - 1)
    },
    take(name, now_ms) {
      turnTo(Math.floor(now_ms / window_ms))
      const passed_ms = now_ms % window_ms
      const counted = current.get(name) ?? 0
      const earlier = before.get(name) ?? 0
      const weighed = counted * window_ms + earlier * (window_ms - passed_ms)
      if (weighed >= requests_per_minute * window_ms) {
        // Re-inserting the name makes it the most recent caller.
        if (counted > 0) current.set(name, counted)
        const wait_ms = waitFor({ counted, earlier, passed_ms, requests_per_minute })
        const wait_s = Math.ceil(wait_ms / 1000)
        const detail = `${subject} exceeded its limit of ${requests_per_minute} calls per minute`
        return {
          allowed: false,
          fault: problem('rate_limited', { detail, retry_after_s: wait_s }),
          headers: rateHeaders(requests_per_minute, 0, wait_s),
        }
      }
      current.set(name, counted + 1)
      const left = requests_per_minute - Math.ceil(weighed / window_ms) - 1
      const reset_s = Math.ceil((window_ms - passed_ms) / 1000)
      return {
        allowed: true,
        headers: rateHeaders(requests_per_minute, Math.max(0, left), reset_s),
      }
    },
  }
}

/**
 * Returns the milliseconds until the weighted count is below the limit: in this minute if enough
 * calls of the previous minute leave the window, otherwise in the next minute, in which the calls
 * of this minute are the earlier ones.
 */
function waitFor(at: {
  counted: number
  earlier: number
  passed_ms: number
  requests_per_minute: number
}): number {
  const free = at.requests_per_minute - at.counted
  if (free > 0) return firstBelow(free, at.earlier) - at.passed_ms
  return window_ms - at.passed_ms + firstBelow(at.requests_per_minute, at.counted)
}

/**
 * Returns the first millisecond of a minute at which `calls` of the previous one weigh below
 * `free`.
 */
function firstBelow(free: number, calls: number): number {
  return Math.max(0, Math.floor(window_ms - (free * window_ms) / calls) + 1)
}

/** Headers of draft-ietf-httpapi-ratelimit-headers-03: the field's clients know these names. */
function rateHeaders(limit: number, remaining: number, reset_s: number): readonly string[] {
  return [
    ...['RateLimit-Limit', String(limit)],
    ...['RateLimit-Remaining', String(remaining)],
    ...['RateLimit-Reset', String(reset_s)],
  ]
}

/** Returns a list of name, value, name, value as an object with names in lower case. */
export function headersFrom(list: readonly string[]): Record<string, string> {
  const names = list.filter((_, at) => at % 2 === 0)
  return Object.fromEntries(names.map((name, at) => [name.toLowerCase(), list[2 * at + 1] ?? '']))
}
