import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { type Caller, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField, reasonField } from '../../fields.ts'
import { findChangeableKey, keyNotFound, keySchema } from '../../keys/key-record.ts'
import { findKey, type KeyRow, updateKey } from '../../keys/store.ts'
import { declaredBy } from '../../service-accounts/declaration.ts'
import { type Decision, suspendAccount } from '../../service-accounts/suspension.ts'

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke: revokes a key for good,
 * at once in this process and within 30 s in others; or, with `at`, at a later time, so that its
 * users can switch to another key. Revoking it again changes nothing. With `emergency` a project
 * admin revokes any key of the project, also one that a resource declares, and suspends its service
 * account, because the operator of the cluster would otherwise replace the key at once.
 */
export function revokeApiKey({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke',
    id: 'revokeApiKey',
    summary: 'Revoke a key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true, in_archived: true },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    body: z
      .strictObject({
        at: z.iso
          .datetime({ offset: true })
          .optional()
          .describe(
            'Time when the key ends, at most its expiry. Default: now. A past time means now.',
          ),
        managed_by: declaredBy,
        emergency: z
          .boolean()
          .default(false)
          .describe(
            'Revoke the key now, even if a Kubernetes resource manages it, and suspend its service account. Requires `reason`; not for operators.',
          ),
        reason: reasonField
          .optional()
          .describe(
            'Reason of the emergency. Stored permanently, and shown in the status of the resource.',
          ),
      })
      .meta({ id: 'RevokeApiKeyRequest' })
      .prefault({}),
    reply: keySchema,
    errors: ['project_not_found', 'api_key_not_found', 'managed_by_kubernetes'],
    handle: async ({ params, body, caller }) => {
      const { at, managed_by, emergency } = body
      const now = new Date(clock.now_ms())
      if (emergency) {
        const decision = { actor: personIn(caller), reason: reasonIn(body), at: now }
        const ended = await revokeInEmergency(db, params, decision)
        keys.forget(ended.prefix)
        roles.forget()
        return ended
      }
      await findChangeableKey(db, params, { caller, managed_by })
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

/** Revokes a key and suspends its service account, in one transaction. */
function revokeInEmergency(
  db: Access['db'],
  which: { project_id: string; api_key_id: string },
  decision: Decision,
): Promise<KeyRow> {
  return db.transaction().execute(async (trx) => {
    const revoked = await updateKey(trx, which, { revoked_at: decision.at })
    const key = revoked ?? (await findKey(trx, which))
    if (key === undefined) throw keyNotFound(which.api_key_id)
    await suspendAccount(trx, { ...which, service_account_id: key.service_account_id }, decision)
    return key
  })
}

function personIn(caller: Caller): string {
  if (caller.kind === 'user') return caller.id
  throw problem('permission_denied', {
    detail: 'An emergency revocation requires a signed-in project admin',
  })
}

function reasonIn({ reason }: { reason?: string | undefined }): string {
  if (reason !== undefined) return reason
  const detail = 'missing, expected the reason of the emergency'
  throw problem('invalid_request', {
    detail: `/reason: ${detail}`,
    faults: [{ pointer: '/reason', detail }],
  })
}
