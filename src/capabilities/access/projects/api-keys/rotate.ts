import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { environmentField, expiryField, idField } from '../../fields.ts'
import { findChangeableKey, keySchema, mintKey, newKeySchema } from '../../keys/key-record.ts'
import { replaceKey } from '../../keys/store.ts'

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
        ...{ project_id, service_account_id, name, scopes, environment, expires_at },
        ...{ origins, user_rate_per_minute },
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
