import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { noteBefore } from '../../../../platform/audit/index.ts'
import { type Caller, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { environmentField, expiryField, idField, reasonField, scopesField } from '../../fields.ts'
import { checkBrowserScopes } from '../../keys/browser-key.ts'
import {
  checkWithin,
  findChangeableKey,
  keyNotFound,
  keySchema,
  mintKey,
  newKeySchema,
} from '../../keys/key-record.ts'
import { findKey, type KeyRow, replaceKey, updateKey } from '../../keys/store.ts'
import { declaredBy } from '../../service-accounts/declaration.ts'
import { findServiceAccount } from '../../service-accounts/store.ts'
import {
  type Decision,
  refuseSuspended,
  suspendAccount,
} from '../../service-accounts/suspension.ts'
import { admitScopes } from '../key-scopes-limit.ts'

/** GET /api/v2/access/projects/{project_id}/api-keys/{api_key_id}: one key, without its secret. */
export function getApiKey({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}',
    id: 'getApiKey',
    summary: 'One key of a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    reply: keySchema,
    errors: ['project_not_found', 'api_key_not_found'],
    handle: async ({ params }) => {
      const key = await findKey(db, params)
      if (key === undefined) throw keyNotFound(params.api_key_id)
      return key
    },
  })
}

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/scopes: replaces the scopes of a
 * key. A service account's key can have only scopes of the account.
 */
export function setApiKeyScopes({ db, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/scopes',
    id: 'setApiKeyScopes',
    summary: 'Replace the scopes of a key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    body: record('SetApiKeyScopesRequest', { scopes: scopesField, managed_by: declaredBy }),
    reply: keySchema,
    errors: [
      'project_not_found',
      'api_key_not_found',
      'api_key_revoked',
      'managed_by_kubernetes',
      'service_account_suspended',
    ],
    handle: async ({ params, body: { scopes, managed_by }, caller }) => {
      const key = await findChangeableKey(db, params, { caller, managed_by })
      const { project_id, service_account_id } = key
      if (key.origins !== null) checkBrowserScopes(scopes)
      noteBefore({ scopes: key.scopes })
      if (service_account_id !== null) {
        const account = await findServiceAccount(db, { project_id, service_account_id })
        refuseSuspended(account)
        checkWithin(scopes, account?.scopes ?? [])
      }
      const gained = scopes.filter((scope) => !key.scopes.includes(scope))
      await admitScopes(db, { project_id, scopes: gained })
      const changed = await updateKey(db, params, { scopes })
      if (changed === undefined) throw problem('api_key_revoked')
      keys.forget(changed.prefix)
      roles.forget()
      return changed
    },
  })
}

/**
 * POST /api/v2/access/projects/{project_id}/api-keys/{api_key_id}/rotate: makes a new key with the
 * old one's name and scopes, and unless the body has others, its environment and expiry. The old key
 * is revoked, or stays valid for the overlap, so that its users can switch to the new one.
 */
export function rotateApiKey({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/rotate',
    id: 'rotateApiKey',
    summary: 'Replace a key by a new one',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 201,
    idempotent: true,
    shown_once: ['key'],
    params: z.strictObject({ project_id: idField, api_key_id: idField }),
    body: bodySchema,
    reply: newKeySchema.extend({ previous: keySchema }).meta({ id: 'RotatedApiKey' }),
    errors: [
      'project_not_found',
      'api_key_not_found',
      'api_key_revoked',
      'managed_by_kubernetes',
      'service_account_suspended',
      'key_limit_reached',
    ],
    handle: async ({ params, body, caller }) => {
      const old = await findChangeableKey(db, params, { caller })
      const { project_id, service_account_id, name, scopes } = old
      const { origins, user_rate_per_minute } = old
      const environment = body.environment === undefined ? old.environment : body.environment
      const expires_at = body.expires_at === undefined ? old.expires_at : body.expires_at
      const spec = {
        project_id,
        service_account_id,
        name,
        scopes,
        environment,
        expires_at,
        origins,
        user_rate_per_minute,
      }
      const at = new Date(clock.now_ms())
      const { key, row } = mintKey(spec, { caller, now: at })
      const ends_at = new Date(at.getTime() + body.overlap_seconds * 1000)
      const replaced = await replaceKey(db, params, { by: row, at, ends_at })
      if (replaced === undefined) throw problem('api_key_revoked')
      keys.forget(old.prefix)
      roles.forget()
      return { ...replaced.added, previous: replaced.previous, key }
    },
  })
}

const bodySchema = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(24 * 60 * 60)
      .default(0)
      .describe('How long the old key stays valid, in seconds.'),
    environment: environmentField.describe(
      'Environment of the new key, one of the environments of the project; null: none. Default: the environment of the old key.',
    ),
    expires_at: expiryField.describe('Expiry of the new key. Default: the expiry of the old key.'),
  })
  .meta({ id: 'RotateApiKeyRequest' })
  .prefault({})

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
