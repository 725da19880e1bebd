import { z } from 'zod'
import { defaultKeyScopes } from '../../../../kernel/scopes.ts'
import { idPageQuery, readIdPage } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { environmentField, expiryField, idField, nameField, scopesField } from '../../fields.ts'
import { browserKeyFields, browserKeySpec, refuseBrowserFaults } from '../../keys/browser-key.ts'
import { keyListSchema, mintKey, newKeySchema } from '../../keys/key-record.ts'
import { addKey, listKeys } from '../../keys/store.ts'
import { allowedScopes } from '../key-scopes-limit.ts'

/** GET /api/v2/access/projects/{project_id}/api-keys: includes the keys of its service accounts. */
export function getApiKeys({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/api-keys',
    id: 'listApiKeys',
    summary: 'Keys of a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: paramsSchema,
    query: z.strictObject({
      service_account_id: idField.optional().describe('Only keys of this service account.'),
      ...idPageQuery,
    }),
    reply: keyListSchema,
    errors: ['project_not_found', 'invalid_cursor'],
    handle: async ({ params, query }) => {
      const { items, info } = await readIdPage(list, query, (page) =>
        listKeys(db, { ...params, service_account_id: query.service_account_id, ...page }),
      )
      return { api_keys: items, ...info }
    },
  })
}

/** POST /api/v2/access/projects/{project_id}/api-keys. */
export function createApiKey({ db, clock, keys }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/api-keys',
    id: 'createApiKey',
    summary: 'Make a project key',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 201,
    idempotent: true,
    shown_once: ['key'],
    params: paramsSchema,
    body: record('CreateApiKeyRequest', {
      name: nameField,
      scopes: scopesField
        .optional()
        .describe(
          'Scopes of the key. Default: the default scopes within the limit of the project.',
        ),
      environment: environmentField,
      expires_at: expiryField,
      ...browserKeyFields,
    }).superRefine(refuseBrowserFaults),
    reply: newKeySchema,
    errors: ['project_not_found'],
    handle: async ({ params, body, caller }) => {
      const { environment, expires_at, name } = body
      const usual = { ...params, scopes: defaultKeyScopes }
      const scopes = body.scopes ?? (await allowedScopes(db, usual))
      const owner = { ...params, service_account_id: null }
      const spec = { ...owner, name, scopes, environment, expires_at, ...browserKeySpec(body) }
      const { key, row } = mintKey(spec, { caller, now: new Date(clock.now_ms()) })
      const made = await addKey(db, row)
      keys.forget(row.prefix)
      return { ...made, key }
    },
  })
}

const list = 'api keys'
const paramsSchema = z.strictObject({ project_id: idField })
