import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { totalExactMax } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { instantField, nameField, pageFields, scopesField } from '../fields.ts'
import { idAfter, idPage, idPageQuery } from '../id-pages.ts'
import { insertServiceAccount, listServiceAccounts } from './store.ts'

/** GET /api/v2/access/service-accounts of the selected project. */
export function getServiceAccounts({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts',
    id: 'listServiceAccounts',
    summary: 'Service accounts of a project',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    query: z.strictObject(idPageQuery),
    reply: z.strictObject({ service_accounts: z.array(accountSchema), ...pageFields }),
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const found = await listServiceAccounts(db, {
        project_id: caller.project_id,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      })
      const { items, info } = idPage(found, { list, limit: query.limit, idOf: ({ id }) => id })
      return { service_accounts: items, ...info }
    },
  })
}

/** POST /api/v2/access/service-accounts in the selected project. */
export function createServiceAccount({ db, clock }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/service-accounts',
    id: 'createServiceAccount',
    summary: 'Make a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 201,
    idempotent: true,
    body: z.strictObject({ name: nameField, scopes: scopesField }),
    reply: accountSchema,
    errors: ['name_taken'],
    handle: async ({ body, caller }) => {
      const made = await insertServiceAccount(db, {
        ...body,
        id: newId(),
        project_id: caller.project_id,
        created_at: new Date(clock.now_ms()),
        created_by: caller.id,
      })
      if (made !== undefined) return made
      throw problem('name_taken', {
        detail: `The project has a service account "${body.name}" already`,
      })
    },
  })
}

const list = 'service accounts'

const accountSchema = z.strictObject({
  id: z.uuid(),
  project_id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.enum(keyScopes)).describe('The most that its keys may do.'),
  disabled_at: instantField.nullable(),
  created_at: instantField,
  created_by: z.uuid().nullable(),
})
