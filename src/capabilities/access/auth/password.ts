import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { newPasswordField } from '../fields.ts'
import { assertStrong } from '../passwords/password-strength.ts'
import { listKnownTexts } from './password-reset/store.ts'
import { findLoginById, replacePassword } from './store.ts'

/**
 * PUT /api/v1/auth/password: replaces the caller's own password. It requires the current password,
 * so that a stolen token is not enough, and revokes all of the caller's refresh tokens.
 */
export function setPassword(access: Access): Route {
  const { db, clock, guard, passwords, strength, roles } = access
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/auth/password',
    id: 'setPassword',
    summary: 'Replace your password',
    auth: 'jwt',
    scope: { level: 'user', before_password_change: true },
    status: 204,
    body: record('SetPasswordRequest', {
      current_password: z.string().min(1).max(256),
      new_password: newPasswordField,
    }),
    reply: z.undefined(),
    errors: ['overloaded'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, caller, network }) => {
      if (body.new_password === body.current_password) throw unchanged()
      const login = await findLoginById(db, caller.id)
      const known = login?.password_hash ?? null
      if (login === undefined || known === null) throw wrong()
      const account = login.email
      const isRight = await guard.attempt({ account, network }, async () =>
        (await passwords.verify(body.current_password, known)) ? true : undefined,
      )
      if (isRight === undefined) throw wrong()
      const about = await listKnownTexts(db, caller.id)
      const pointer = '/new_password'
      await assertStrong(strength, { password: body.new_password, pointer, about })
      const password_hash = await passwords.hash(body.new_password)
      const change = { user_id: caller.id, known, password_hash, now: clock.now_ms() }
      if (!(await replacePassword(db, change))) throw wrong()
      roles.forget()
      return undefined
    },
  })
}

function unchanged(): Error {
  const detail = 'expected a password that differs from the current one'
  return problem('invalid_request', {
    detail: `new_password: ${detail}`,
    faults: [{ pointer: '/new_password', detail }],
  })
}

function wrong(): Error {
  return problem('credentials_invalid', { detail: 'The current password is wrong' })
}
