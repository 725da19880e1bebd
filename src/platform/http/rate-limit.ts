import { createHash } from 'node:crypto'
import type { RateLimitPluginOptions } from '@fastify/rate-limit'
import { problem } from '../../kernel/problem.ts'

/** Callers remembered at once; the oldest is forgotten first. */
const callersMax = 10_000

/**
 * A limit per credential (`address`: per address, where credentials are what is guessed) in this
 * process, so a deployment of n pods allows up to n times as much. Answers carry `RateLimit-*`, a
 * refusal `Retry-After`.
 */
export function limitedBy(
  per_minute_max: number,
  by: 'credential' | 'address',
): RateLimitPluginOptions {
  return {
    max: per_minute_max === 0 ? Number.MAX_SAFE_INTEGER : per_minute_max,
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
