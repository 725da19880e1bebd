import { createHash } from 'node:crypto'
import type { RateLimitPluginOptions } from '@fastify/rate-limit'
import { toClientNetwork } from '../../kernel/client-network.ts'
import { type Problem, problem } from '../../kernel/problem.ts'

/** Returns the calls per minute for a key, by its format alone; undefined for the default limit. */
export type LimitOfKey = (api_key: string) => number | undefined

/** Maximum tracked callers. The oldest is dropped first. */
const callersMax = 10_000

/**
 * Returns options for a rate limit per credential, or per client network where credentials could be
 * guessed. The limit is per process, so n pods allow up to n times as many calls. `limitOf` sets
 * another limit for some keys. Responses have `RateLimit-*` headers, rejections also `Retry-After`.
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
      if (by === 'address' || credential === undefined) return toClientNetwork(request.ip)
      return createHash('sha256').update(String(credential)).digest('base64url')
    },
    errorResponseBuilder: (_request, { max, ttl }) =>
      problem('rate_limited', {
        detail: `The limit of ${max} requests per minute is exceeded. Retry later.`,
        retry_after_s: Math.ceil(ttl / 1000),
      }),
  }
}

/**
 * A decision on a call. A rejection has its error with the seconds to wait, and RateLimit headers.
 */
export type RateDecision =
  | { allowed: true }
  | { allowed: false; fault: Problem; headers: readonly string[] }

export type RateLimiter = { take(key_id: string, now_ms: number): RateDecision }

const window_ms = 60_000

/**
 * Limits each key to `requests_per_minute` calls over a sliding window: calls of the previous
 * minute count by the share of that minute that is still in the window. Keeps two counters per key,
 * for two minutes. 0 sets no limit.
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

function refusal(requests_per_minute: number, retry_after_s: number): RateDecision {
  const detail = `the key exceeded its limit of ${requests_per_minute} calls per minute`
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
