import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField } from '../../fields.ts'
import { keyNotFound, keySchema } from '../../keys/key-record.ts'
import { findKey, updateKey } from '../../keys/store.ts'

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke: ends a key for good; at
 * once in this process, within 30 s in others. Revoking it again changes nothing.
 */
export function revokeApiKey({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke',
    id: 'revokeApiKey',
    summary: 'Revoke a key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    reply: keySchema,
    errors: ['project_not_found', 'api_key_not_found'],
    handle: async ({ params }) => {
      const revoked =
        (await updateKey(db, params, { revoked_at: new Date(clock.now_ms()) })) ??
        (await findKey(db, params))
      if (revoked === undefined) throw keyNotFound(params.api_key_id)
      keys.forget(revoked.prefix)
      roles.forget()
      return revoked
    },
  })
}
