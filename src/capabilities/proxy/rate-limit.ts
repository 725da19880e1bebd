import { type Problem, problem } from '../../kernel/problem.ts'

/** `allowed: false` brings the refusal, with the seconds to wait, and its RateLimit headers. */
export type RateDecision =
  | { allowed: true }
  | { allowed: false; fault: Problem; headers: readonly string[] }

export type RateLimiter = { take(key_id: string, now_ms: number): RateDecision }

const window_ms = 60_000

/**
 * Lets `requests_per_minute` calls of each key through, over a window that slides: the calls of
 * the minute before count by the part of it that is still in the window. Two counters a key, kept
 * for two minutes; 0 sets no limit.
 */
export function createRateLimiter(requests_per_minute: number): RateLimiter {
  if (requests_per_minute === 0) return { take: () => ({ allowed: true }) }
  let minute = 0
  let current = new Map<string, number>()
  let before = new Map<string, number>()
  const turnTo = (now: number) => {
    if (now === minute) return
    before = now === minute + 1 ? current : new Map()
    current = new Map()
    minute = now
  }
  return {
    take(key_id, now_ms) {
      turnTo(Math.floor(now_ms / window_ms))
      const passed = (now_ms % window_ms) / window_ms
      const counted = current.get(key_id) ?? 0
      const earlier = before.get(key_id) ?? 0
      if (counted + earlier * (1 - passed) >= requests_per_minute) {
        return refusal(requests_per_minute, retryAfter(counted, earlier, passed))
      }
      current.set(key_id, counted + 1)
      return { allowed: true }
    },
  }

  function retryAfter(counted: number, earlier: number, passed: number): number {
    const untilNextMinute = 1 - passed
    const wait =
      counted < requests_per_minute && earlier > 0
        ? untilNextMinute - (requests_per_minute - counted) / earlier
        : untilNextMinute + 1 - requests_per_minute / Math.max(counted, 1)
    return Math.max(1, Math.ceil((wait * window_ms) / 1000))
  }
}

function refusal(requests_per_minute: number, retry_after_s: number): RateDecision {
  const detail = `the key may make ${requests_per_minute} calls a minute`
  return {
    allowed: false,
    fault: problem('rate_limited', { detail, retry_after_s }),
    headers: [
      'RateLimit-Limit',
      String(requests_per_minute),
      'RateLimit-Remaining',
      '0',
      'RateLimit-Reset',
      String(retry_after_s),
    ],
  }
}
