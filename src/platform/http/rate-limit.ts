import { createHash } from 'node:crypto'
import type { RateLimitPluginOptions } from '@fastify/rate-limit'
import { problem } from '../../kernel/problem.ts'

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
