import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'

/**
 * POST /api/v1/auth/revoke: signs out. Every refresh token of the sign-in is revoked; access tokens
 * stay valid until they expire. Answers 204 for unknown tokens too (RFC 7009, 2.2).
 */
export function revokeToken({ refresh_tokens }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/revoke',
    id: 'revokeToken',
    summary: 'Sign out: revoke a refresh token and its successors',
    auth: 'public',
    scope: { level: 'public' },
    status: 204,
    body: record('RevokeTokenRequest', { refresh_token: z.string().min(1).max(256) }),
    reply: z.undefined(),
    errors: ['store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body }) => {
      await refresh_tokens.revoke(body.refresh_token)
      return undefined
    },
  })
}
