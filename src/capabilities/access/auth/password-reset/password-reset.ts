import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { emailField } from '../../fields.ts'

/**
 * POST /api/v1/auth/password-reset: sends a reset link by mail. The answer is the same for every
 * e-mail, and everything that depends on the account happens after it, so that neither its content
 * nor its time reveals which accounts exist.
 */
export function requestPasswordReset({ guard, resets }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/password-reset',
    id: 'requestPasswordReset',
    summary: 'Request a link that sets a new password',
    auth: 'public',
    scope: { level: 'public' },
    status: 202,
    body: record('PasswordResetRequest', { email: emailField }),
    reply: record('PasswordResetRequested', {
      status: z
        .literal('accepted')
        .describe('Always `accepted`, also for an e-mail without an account.'),
    }),
    errors: ['store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, network }) => {
      await guard.countReset(network)
      resets.request(body.email)
      return { status: 'accepted' as const }
    },
  })
}
