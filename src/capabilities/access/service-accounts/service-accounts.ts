import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { totalExactMax } from '../../../kernel/pages.ts'
import { managedByParameter } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { nameField, pageFields, scopesField } from '../fields.ts'
import { idAfter, idPage, idPageQuery } from '../id-pages.ts'
import { accountSchema, nameTaken } from './account-schema.ts'
import { declaredBy, spokenFor } from './declaration.ts'
import { insertServiceAccount, listServiceAccounts } from './store.ts'

/** GET /api/v2/access/service-accounts of the selected project. */
export function getServiceAccounts({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts',
    id: 'listServiceAccounts',
    summary: 'Service accounts of a project',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: 'access:read', operator: true },
    query: z.strictObject({
      managed_by: managedByParameter
        .optional()
        .describe('Only the one that this resource declares: `Kind/namespace/name`.'),
      ...idPageQuery,
    }),
    reply: record('ServiceAccountList', {
      service_accounts: z.array(accountSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const found = await listServiceAccounts(db, {
        project_id: caller.project_id,
        managed_by: query.managed_by,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      })
      const { items, info } = idPage(found, { list, limit: query.limit, idOf: ({ id }) => id })
      return { service_accounts: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/service-accounts in the selected project. A resource that declares one already
 * is answered that one, with 200 and as it stands: whoever died after the first call asks again.
 */
export function createServiceAccount({ db, clock }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/service-accounts',
    id: 'createServiceAccount',
    summary: 'Make a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    status: 201,
    idempotent: true,
    body: record('CreateServiceAccountRequest', {
      name: nameField,
      scopes: scopesField,
      managed_by: declaredBy,
    }),
    reply: accountSchema,
    also: {
      status: 200,
      description: 'The resource declares the account already; the answer is that account.',
      reply: accountSchema,
    },
    errors: ['name_taken'],
    handle: async ({ body, caller }) => {
      const { name, scopes } = body
      const made = await insertServiceAccount(db, {
        ...{ name, scopes },
        managed_by: spokenFor(caller, body),
        id: newId(),
        project_id: caller.project_id,
        created_at: new Date(clock.now_ms()),
        created_by: caller.kind === 'user' ? caller.id : null,
      })
      if (made === undefined) throw nameTaken(name)
      return made.is_new ? made.account : new Answer(made.account, { status: 200 })
    },
  })
}

const list = 'service accounts'
