import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { emailField, idField, instantField, nameField, newPasswordField } from '../fields.ts'
import { assertStrong } from '../passwords/password-strength.ts'
import { insertUser, isInstallationAdmin, listUsers } from './store.ts'

const passwordOrigins = ['self', 'administrator', 'installation'] as const
const originField = z.enum(passwordOrigins).meta({ id: 'PasswordOrigin' })

/** A user in a reply to an administrator of the installation. */
export const userSchema = record('User', {
  id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  created_at: instantField,
  disabled_at: instantField.nullable(),
  email_verified_at: instantField
    .nullable()
    .describe('Time when the e-mail address was verified; null if it is not verified.'),
  installation_admin: z.boolean(),
  must_change_password: z.boolean(),
  has_password: z.boolean(),
  password_origin: originField.nullable().describe('Who chose the password; null without one.'),
})

/** GET /api/v2/access/users: all users, for administrators of the installation. */
export function getUsers({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/users',
    id: 'listUsers',
    summary: 'Users of the installation',
    auth: 'jwt',
    scope: { level: 'user' },
    query: z.strictObject({
      password_origin: originField.optional().describe('Only users with this password origin.'),
      ...idPageQuery,
    }),
    reply: record('UserList', { users: z.array(userSchema), ...pageFields }),
    errors: ['invalid_cursor'],
    handle: async ({ query: { password_origin, cursor, limit }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const { items, info } = await readIdPage(list, { cursor, limit }, (page) =>
        listUsers(db, { password_origin, ...page }),
      )
      return { users: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/users: creates an account. The person must replace the password at the first
 * sign-in. It becomes a member of an organization by invitation.
 */
export function createUser({ db, clock, passwords, strength, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/users',
    id: 'createUser',
    summary: 'Make an account with a password that the person must replace',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 201,
    body: record('CreateUserRequest', {
      email: emailField,
      display_name: nameField.optional().describe('Default: the e-mail.'),
      password: newPasswordField,
    }),
    reply: userSchema,
    errors: ['account_exists', 'overloaded'],
    handle: async ({ body: { email, display_name = email, password }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const about = [email, display_name]
      await assertStrong(strength, { password, pointer: '/password', about })
      const made = await insertUser(db, {
        id: newId(),
        email,
        display_name,
        password_hash: await passwords.hash(password),
        password_origin: 'administrator',
        must_change_password: true,
        email_verified_at: null,
        created_at: new Date(clock.now_ms()),
      })
      if (made === undefined) {
        throw problem('account_exists', { detail: `${email} has an account already` })
      }
      roles.forget()
      return made
    },
  })
}

const list = 'users'

/** The path of a route of one user. */
export const userParams = z.strictObject({ user_id: idField })

/** Throws `permission_denied` unless the user is an administrator of the installation. */
export async function assertInstallationAdmin(db: Access['db'], user_id: string): Promise<void> {
  if (!(await isInstallationAdmin(db, user_id))) throw adminRequired()
}

export function adminRequired(): Error {
  return problem('permission_denied', {
    detail: 'This requires an administrator of the installation',
  })
}

export function userNotFound(user_id: string): Error {
  return problem('user_not_found', { detail: `There is no user with the id ${user_id}` })
}
