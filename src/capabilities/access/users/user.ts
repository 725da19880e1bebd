import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { listKnownTexts } from '../auth/password-reset/store.ts'
import { instantField, newPasswordField } from '../fields.ts'
import { assertStrong } from '../passwords/password-strength.ts'
import {
  endSessions,
  findUser,
  resetPassword,
  setInstallationAdmin,
  setUserDisabled,
} from './store.ts'
import {
  adminRequired,
  assertInstallationAdmin,
  userNotFound,
  userParams,
  userSchema,
} from './users.ts'

/** GET /api/v2/access/users/{user_id}: one user, for administrators of the installation. */
export function getUser({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/users/{user_id}',
    id: 'getUser',
    summary: 'One user of the installation',
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    reply: userSchema,
    errors: ['user_not_found'],
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const user = await findUser(db, user_id)
      if (user === undefined) throw userNotFound(user_id)
      return user
    },
  })
}

/** POST /api/v2/access/users/{user_id}/disable: refuses sign-ins and ends all sessions. */
export function disableUser(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    url: '/api/v2/access/users/{user_id}/disable',
    id: 'disableUser',
    summary: 'Refuse the sign-ins of a user',
    handle: ({ params: { user_id }, caller }) => {
      if (user_id === caller.id) {
        throw problem('permission_denied', {
          detail: 'Another administrator of the installation must disable your account',
        })
      }
      return switchUser(access, { user_id, actor_id: caller.id, disabled: true })
    },
  })
}

/** The common parts of the routes that disable and enable a user. */
const switchRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'user' },
  params: userParams,
  reply: userSchema,
  errors: ['user_not_found', 'last_owner'],
} as const

/** Disables or enables a user. Throws `permission_denied`, `user_not_found`, `last_owner`. */
async function switchUser(
  { db, clock, roles }: Access,
  change: { user_id: string; actor_id: string; disabled: boolean },
) {
  const changed = await setUserDisabled(db, { ...change, now: new Date(clock.now_ms()) })
  if (changed === 'denied') throw adminRequired()
  if (changed === undefined) throw userNotFound(change.user_id)
  roles.forget()
  return changed
}

/** POST /api/v2/access/users/{user_id}/enable: accepts sign-ins of a disabled user again. */
export function enableUser(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    url: '/api/v2/access/users/{user_id}/enable',
    id: 'enableUser',
    summary: 'Accept the sign-ins of a disabled user again',
    handle: ({ params: { user_id }, caller }) =>
      switchUser(access, { user_id, actor_id: caller.id, disabled: false }),
  })
}

/**
 * DELETE /api/v2/access/users/{user_id}/sessions: signs a person out everywhere: browsers, refresh
 * tokens and access tokens. Other processes accept the access tokens for up to 30 s. The person may
 * sign in again.
 */
export function endUserSessions({ db, clock, roles, logger }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/users/{user_id}/sessions',
    id: 'endUserSessions',
    summary: 'Sign a person out everywhere',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 204,
    params: userParams,
    reply: z.undefined(),
    errors: ['user_not_found'],
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const now = new Date(clock.now_ms())
      const isKnown = await db.transaction().execute((trx) => endSessions(trx, { user_id, now }))
      if (!isKnown) throw userNotFound(user_id)
      roles.forget()
      logger.info({ user_id, ended_by: caller.id }, 'all sessions of a user were ended')
      return undefined
    },
  })
}

/**
 * PUT /api/v2/access/users/{user_id}/administrator: grants or revokes the administrator role of the
 * installation. Administrators manage accounts. The role gives no access to projects, because roles
 * in organizations are separate. The last administrator who can sign in keeps the role.
 */
export function putAdministrator({ db, roles, logger }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/users/{user_id}/administrator',
    id: 'putAdministrator',
    summary: 'Grant or revoke the administrator role of the installation',
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    body: record('PutAdministratorRequest', {
      installation_admin: z
        .boolean()
        .describe('Whether the person is an administrator of the installation.'),
    }),
    reply: userSchema,
    errors: ['user_not_found', 'last_administrator'],
    handle: async ({ params: { user_id }, body, caller }) => {
      const change = { user_id, actor_id: caller.id, ...body }
      const changed = await setInstallationAdmin(db, change)
      if (changed === 'denied') throw adminRequired()
      if (changed === 'last') {
        throw problem('last_administrator', {
          detail: 'Make another person an administrator of the installation first',
        })
      }
      if (changed === undefined) throw userNotFound(user_id)
      roles.forget()
      logger.info({ user_id, by: caller.id, ...body }, 'an administrator was changed')
      return changed
    },
  })
}

/**
 * POST /api/v2/access/users/{user_id}/password: sets the password of another person, who must
 * replace it at the next sign-in. Ends all sessions of the account.
 */
export function setUserPassword({ db, clock, passwords, strength, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/users/{user_id}/password',
    id: 'setUserPassword',
    summary: "Set a person's password, which they must replace",
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    body: record('SetUserPasswordRequest', { password: newPasswordField }),
    reply: userSchema,
    errors: ['user_not_found', 'overloaded'],
    handle: async ({ params: { user_id }, body, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      if (user_id === caller.id) {
        // The own password requires the current one, so that a stolen token is not enough.
        throw problem('permission_denied', {
          detail: 'Replace your own password with PUT /api/v1/auth/password',
        })
      }
      const about = await listKnownTexts(db, user_id)
      await assertStrong(strength, { password: body.password, pointer: '/password', about })
      const password_hash = await passwords.hash(body.password)
      const changed = await db.transaction().execute((trx) =>
        resetPassword(trx, {
          user_id,
          password_hash,
          password_origin: 'administrator',
          must_change_password: true,
          proves_email: false,
          now: new Date(clock.now_ms()),
        }),
      )
      if (changed === undefined) throw userNotFound(user_id)
      roles.forget()
      return changed
    },
  })
}

/**
 * POST /api/v2/access/users/{user_id}/password-reset: makes a reset link to pass on by hand, for
 * installations without a mail server. Only for administrators of the installation, because the link
 * gives access to the person's projects in all organizations.
 */
export function createPasswordReset({ db, resets, logger }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/users/{user_id}/password-reset',
    id: 'createPasswordReset',
    summary: 'Make a link with which a person sets a new password',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 201,
    params: userParams,
    reply: record('PasswordResetLink', {
      token: z.string().describe('Token of the link. Shown once.'),
      url: z
        .string()
        .nullable()
        .describe('Link to pass on. Shown once; null without `LOOPTRACE_PUBLIC_URL`.'),
      expires_at: instantField,
    }),
    errors: ['user_not_found'],
    caller_rate_per_minute_max: 60,
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const link = await resets.create({ user_id, created_by: caller.id })
      if (link === undefined) throw userNotFound(user_id)
      logger.info({ user_id, created_by: caller.id }, 'a reset link was made')
      return new Answer(link, { headers: { 'cache-control': 'no-store' } })
    },
  })
}
