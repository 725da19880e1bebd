import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { emailField, newPasswordField } from '../../fields.ts'
import { hashSecret } from '../../keys/project-key.ts'
import { assertStrong } from '../../passwords/password-strength.ts'
import { findResetPerson, setPasswordByReset } from './store.ts'

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

/**
 * POST /api/v1/auth/password-reset/confirm: sets a new password with the token of a reset link. A
 * weak password does not use the link up.
 */
export function confirmPasswordReset(access: Access): Route {
  const { db, clock, guard, passwords, strength } = access
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/password-reset/confirm',
    id: 'confirmPasswordReset',
    summary: 'Set a new password with a reset link',
    auth: 'public',
    scope: { level: 'public' },
    status: 204,
    body: record('ConfirmPasswordResetRequest', {
      token: z.string().min(1).max(256).describe('The part of the link after `token=`.'),
      new_password: newPasswordField,
    }),
    reply: z.undefined(),
    errors: ['credentials_invalid', 'store_unavailable', 'overloaded'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, network }) => {
      const token_hash = hashSecret(body.token)
      const now = new Date(clock.now_ms())
      const person = await findResetPerson(db, { token_hash, now })
      if (person === undefined) throw invalidLink()
      const { email, about } = person
      const password = body.new_password
      await assertStrong(strength, { password, pointer: '/new_password', about })
      const password_hash = await passwords.hash(password)
      if (!(await setPasswordByReset(db, { token_hash, password_hash, now }))) throw invalidLink()
      await guard.forgive({ account: email, network })
      return undefined
    },
  })
}

function invalidLink(): Error {
  return problem('credentials_invalid', {
    detail: 'The reset link is invalid, used or expired. Request a new one.',
  })
}
