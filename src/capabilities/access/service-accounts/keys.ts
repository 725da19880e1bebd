import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { environmentField, expiryField, idField, nameField, scopesField } from '../fields.ts'
import { checkWithin, mintKey, newKeySchema } from '../keys/key-record.ts'
import { insertKey } from '../keys/store.ts'
import { findServiceAccount } from './store.ts'

/**
 * POST /api/v2/access/service-accounts/{service_account_id}/keys: a key that is good as X-API-Key
 * and as `client_secret` for an access token. Left out, its scopes are all of the account's.
 */
export function createServiceAccountKey({ db, clock, keys }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/service-accounts/{service_account_id}/keys',
    id: 'createServiceAccountKey',
    summary: 'Make a key of a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 201,
    idempotent: true,
    shown_once: ['key'],
    params: z.strictObject({ service_account_id: idField }),
    body: z
      .strictObject({
        name: nameField.optional().describe("Left out, the account's name."),
        scopes: scopesField.optional(),
        environment: environmentField,
        expires_at: expiryField,
      })
      .prefault({}),
    reply: newKeySchema,
    errors: ['service_account_not_found'],
    handle: async ({ params, body, caller }) => {
      const { project_id } = caller
      const { service_account_id } = params
      const account = await findServiceAccount(db, { project_id, service_account_id })
      if (account === undefined) {
        throw problem('service_account_not_found', {
          detail: `The project has no service account with the id ${service_account_id}`,
        })
      }
      const { name = account.name, scopes = account.scopes, environment, expires_at } = body
      checkWithin(scopes, account.scopes)
      const wish = { project_id, service_account_id, name, scopes, environment, expires_at }
      const { key, row } = mintKey(wish, { caller, now: new Date(clock.now_ms()) })
      const made = await insertKey(db, row)
      keys.forget(row.prefix)
      return { ...made, key }
    },
  })
}
