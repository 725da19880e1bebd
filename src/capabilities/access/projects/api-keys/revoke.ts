import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField } from '../../fields.ts'
import { findChangeableKey, keyNotFound, keySchema } from '../../keys/key-record.ts'
import { findKey, updateKey } from '../../keys/store.ts'
import { declaredBy } from '../../service-accounts/declaration.ts'

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke: revokes a key for good,
 * at once in this process and within 30 s in others; or, with `at`, at a later time, so that its
 * users can switch to another key. Revoking it again changes nothing.
 */
export function revokeApiKey({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke',
    id: 'revokeApiKey',
    summary: 'Revoke a key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    body: z
      .strictObject({
        at: z.iso
          .datetime({ offset: true })
          .optional()
          .describe('Time of the end, never later than its expiry. Left out or past: now.'),
        managed_by: declaredBy,
      })
      .meta({ id: 'RevokeApiKeyRequest' })
      .prefault({}),
    reply: keySchema,
    errors: ['project_not_found', 'api_key_not_found', 'managed_by_kubernetes'],
    handle: async ({ params, body: { at, managed_by }, caller }) => {
      await findChangeableKey(db, params, { caller, managed_by })
      const now = new Date(clock.now_ms())
      const ends_at = at === undefined ? now : new Date(at)
      const change = ends_at <= now ? { revoked_at: now } : { ends_at }
      const revoked = (await updateKey(db, params, change)) ?? (await findKey(db, params))
      if (revoked === undefined) throw keyNotFound(params.api_key_id)
      keys.forget(revoked.prefix)
      roles.forget()
      return revoked
    },
  })
}
