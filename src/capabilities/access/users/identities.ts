import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { noteBefore } from '../../../platform/audit/index.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { instantField } from '../fields.ts'
import { listIdentities, removeIdentities } from '../oidc/store.ts'
import { endSessions, findUser } from './store.ts'
import { assertInstallationAdmin, userNotFound, userParams } from './users.ts'

const route = {
  url: '/api/v2/access/users/{user_id}/identities',
  auth: 'jwt',
  scope: { level: 'user' },
  params: userParams,
  errors: ['user_not_found'],
} as const

/** GET /api/v2/access/users/{user_id}/identities: the account's subjects at external issuers. */
export function getUserIdentities({ db }: Access): Route {
  return defineRoute({
    ...route,
    method: 'GET',
    id: 'listUserIdentities',
    summary: 'Subjects of a user at external issuers',
    reply: record('UserIdentityList', {
      identities: z
        .array(
          record('UserIdentity', {
            issuer: z.string(),
            client_id: z.string().describe('Client or audience of the first token.'),
            subject: z.string(),
            created_at: instantField,
          }),
        )
        .describe('The oldest first.'),
    }),
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      if ((await findUser(db, user_id)) === undefined) throw userNotFound(user_id)
      return { identities: await listIdentities(db, user_id) }
    },
  })
}

/**
 * DELETE /api/v2/access/users/{user_id}/identities: removes the links of an account to its
 * subjects and ends its sessions. The next sign-in with the verified e-mail links its subject.
 */
export function unlinkUserIdentities({ db, clock, roles, logger }: Access): Route {
  return defineRoute({
    ...route,
    method: 'DELETE',
    id: 'unlinkUserIdentities',
    summary: 'Let another subject of the external issuer sign in as a user',
    status: 204,
    reply: z.undefined(),
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const now = new Date(clock.now_ms())
      const identities = await db.transaction().execute(async (trx) => {
        const removed = await removeIdentities(trx, { user_id, now })
        // Noted before the commit, which writes the record of the call.
        noteBefore({ identities: removed })
        if (!(await endSessions(trx, { user_id, now }))) throw userNotFound(user_id)
        return removed
      })
      roles.forget()
      const about = { user_id, removed: identities.length, removed_by: caller.id }
      logger.info(about, 'links of a user to the external issuer were removed')
      return undefined
    },
  })
}
