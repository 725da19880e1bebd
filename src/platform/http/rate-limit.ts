import { createHash } from 'node:crypto'
import type { RateLimitPluginOptions } from '@fastify/rate-limit'
import { type Problem, problem } from '../../kernel/problem.ts'

/** Calls a minute of the holder of this key, by its form alone; undefined: as anybody else. */
export type LimitOfKey = (api_key: string) => number | undefined

/** Callers remembered at once; the oldest is forgotten first. */
const callersMax = 10_000

/**
 * A limit per credential (`address`: per address, where credentials are what is guessed) in this
 * process, so a deployment of n pods allows up to n times as much. `limitOf` may give some keys
 * another limit. Answers carry `RateLimit-*`, a refusal `Retry-After`.
 */
export function limitedBy(
  per_minute_max: number,
  by: 'credential' | 'address',
  limitOf?: LimitOfKey,
): RateLimitPluginOptions {
  return {
    max: (request) => {
      if (per_minute_max === 0) return Number.MAX_SAFE_INTEGER
      const key = request.headers['x-api-key']
      return (typeof key === 'string' ? limitOf?.(key) : undefined) ?? per_minute_max
    },
    timeWindow: 60_000,
    cache: callersMax,
    enableDraftSpec: true,
    keyGenerator: (request) => {
      const credential = request.headers.authorization ?? request.headers['x-api-key']
      if (by === 'address' || credential === undefined) return request.ip
      return createHash('sha256').update(String(credential)).digest('base64url')
    },
    errorResponseBuilder: (_request, { max, ttl }) =>
      problem('rate_limited', {
        detail: `More than ${max} requests in a minute`,
        retry_after_s: Math.ceil(ttl / 1000),
      }),
  }
}

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
      const passed_ms = now_ms % window_ms
      const counted = current.get(key_id) ?? 0
      const earlier = before.get(key_id) ?? 0
      const weighed = counted * window_ms + earlier * (window_ms - passed_ms)
      if (weighed >= requests_per_minute * window_ms) {
        const wait_ms = waitFor({ counted, earlier, passed_ms, requests_per_minute })
        return refusal(requests_per_minute, Math.ceil(wait_ms / 1000))
      }
      current.set(key_id, counted + 1)
      return { allowed: true }
    },
  }
}

/**
 * Milliseconds until the weighed count is below the limit: in this minute when enough of the one
 * before can leave the window, else in the next, in which this minute's calls are the earlier ones.
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

/** The first millisecond of a minute at which `calls` of the one before weigh less than `free`. */
function firstBelow(free: number, calls: number): number {
  return Math.max(0, Math.floor(window_ms - (free * window_ms) / calls) + 1)
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
