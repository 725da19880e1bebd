import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField, instantField } from '../fields.ts'
import { assertInstallationAdmin } from '../users/users.ts'
import { listOperatorKeys, revokeOperatorKey } from './store.ts'

const operatorKeySchema = record('OperatorKey', {
  id: z.uuid(),
  prefix: z.string().describe('Public part of the key, which identifies it.'),
  created_at: instantField,
  revoked_at: instantField.nullable(),
  last_used_at: instantField
    .nullable()
    .describe('Time of the last use, with a delay of up to two minutes.'),
})
/**
 * GET /api/v2/access/operator-keys: the keys with which cluster operators sign in. Only for
 * administrators of the installation, because operators work in the projects of all organizations.
 */
export function getOperatorKeys({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/operator-keys',
    id: 'listOperatorKeys',
    summary: 'Keys of Kubernetes operators',
    auth: 'jwt',
    scope: { level: 'user' },
    query: z.strictObject(idPageQuery),
    reply: record('OperatorKeyList', { operator_keys: z.array(operatorKeySchema), ...pageFields }),
    errors: ['invalid_cursor'],
    handle: async ({ query: { cursor, limit }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const { items, info } = await readIdPage(list, { cursor, limit }, (page) =>
        listOperatorKeys(db, { ...page }),
      )
      return { operator_keys: items, ...info }
    },
  })
}

/**
 * DELETE /api/v2/access/operator-keys/{operator_key_id}: revokes the key, at once in this process
 * and within 30 s in others. The record is kept, so that the key cannot be registered again.
 */
export function removeOperatorKey({ db, clock, operators }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/operator-keys/{operator_key_id}',
    id: 'revokeOperatorKey',
    summary: 'Revoke the key of an operator',
    auth: 'jwt',
    scope: { level: 'user' },
    params: z.strictObject({ operator_key_id: idField }),
    reply: operatorKeySchema,
    errors: ['api_key_not_found'],
    handle: async ({ params: { operator_key_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const at = new Date(clock.now_ms())
      const revoked = await revokeOperatorKey(db, { operator_key_id, at })
      if (revoked === undefined) {
        throw problem('api_key_not_found', {
          detail: `There is no operator key with the id ${operator_key_id}`,
        })
      }
      operators.forget(revoked.prefix)
      return revoked
    },
  })
}

const list = 'operator keys'
