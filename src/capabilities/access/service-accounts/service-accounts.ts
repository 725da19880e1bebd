import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { managedByField, managedByParameter } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  Answer,
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField, instantField, nameField, scopesField, withEtag } from '../fields.ts'
import { changeAccount, deleteAccount, releaseAccount } from './change-store.ts'
import {
  declaredBy,
  declaredByParameter,
  getDeclarer,
  refuseChange,
  takeOver,
} from './declaration.ts'
import { findServiceAccount, insertServiceAccount, listServiceAccounts } from './store.ts'
import { accountNotFound } from './suspension.ts'

/** GET /api/v2/access/service-accounts: the service accounts of the selected project. */
export function getServiceAccounts({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts',
    id: 'listServiceAccounts',
    summary: 'Service accounts of a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read', operator: true },
    query: z.strictObject({
      managed_by: managedByParameter
        .optional()
        .describe(
          'Only the account that this resource declares: `Kind/namespace/name`, then `/` and its installation.',
        ),
      ...idPageQuery,
    }),
    reply: accountListSchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const { items, info } = await readIdPage(list, query, (page) =>
        listServiceAccounts(db, {
          project_id: caller.project_id,
          managed_by: query.managed_by,
          ...page,
        }),
      )
      return { service_accounts: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/service-accounts: creates a service account in the selected project. When the
 * resource declares an account already, the answer is that account with 200, so that an operator
 * that crashed after the first call can repeat it.
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
        name,
        scopes,
        managed_by: getDeclarer(caller, body),
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

/** GET /api/v2/access/service-accounts/{service_account_id}: one service account. */
export function getServiceAccount({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'getServiceAccount',
    summary: 'One service account',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read', operator: true },
    params: accountParams,
    reply: accountSchema,
    errors: ['service_account_not_found'],
    handle: async ({ params, caller }) => {
      const account = await findServiceAccount(db, { ...params, project_id: caller.project_id })
      if (account === undefined) throw accountNotFound(params.service_account_id)
      return withEtag(account)
    },
  })
}

/**
 * PUT /api/v2/access/service-accounts/{service_account_id}: replaces a service account. Its keys
 * lose the scopes that it loses; scopes that it gains are not added to its keys. A call by an
 * operator makes its resource the owner of an account that has no owner.
 */
export function putServiceAccount({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'putServiceAccount',
    summary: 'Change a service account',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: accountParams,
    body: record('PutServiceAccountRequest', {
      name: nameField,
      scopes: scopesField,
      disabled: z.boolean().default(false).describe('Whether its keys are refused.'),
      managed_by: declaredBy,
      take_over: takeOver,
    }),
    reply: accountSchema,
    errors: [
      ...(['service_account_not_found', 'name_taken', 'managed_by_kubernetes'] as const),
      'precondition_failed',
    ],
    handle: async ({ params, body, caller, headers }) => {
      const which = { ...params, project_id: caller.project_id }
      const { name, scopes, disabled, take_over } = body
      const changed = await changeAccount(db, which, {
        name,
        scopes,
        disabled,
        take_over,
        by: getDeclarer(caller, body),
        at: new Date(clock.now_ms()),
        check: (version) => assertVersion(headers, version),
      })
      if (changed === 'name_taken') throw nameTaken(name)
      if (changed === 'declares_another') {
        throw problem('name_taken', {
          detail: 'The resource declares another service account of the project already',
        })
      }
      for (const prefix of changed.prefixes) keys.forget(prefix)
      roles.forget()
      return withEtag(changed.account)
    },
  })
}

/**
 * DELETE /api/v2/access/service-accounts/{service_account_id}: deletes an account with all its
 * keys; tokens that were issued for them stop working within 30 s. With `retain` the account is
 * kept and only the declaration by its resource is removed.
 */
export function removeServiceAccount({ db, keys, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'deleteServiceAccount',
    summary: 'Delete a service account and its keys',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true, in_archived: true },
    status: 204,
    params: accountParams,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        '`true`: keep the account and remove only its declaration. Requires `managed_by`.',
      ),
    }),
    reply: z.undefined(),
    errors: ['service_account_not_found', 'managed_by_kubernetes'],
    handle: async ({ params, query: { managed_by, retain = false }, caller }) => {
      const by = getDeclarer(caller, { managed_by, take_over: retain })
      const which = { ...params, project_id: caller.project_id }
      const account = await findServiceAccount(db, which)
      if (account === undefined) throw accountNotFound(params.service_account_id)
      refuseChange(caller, account.managed_by, by)
      if (retain && account.managed_by !== null) {
        await releaseAccount(db, which, account.managed_by)
        return undefined
      }
      for (const prefix of await deleteAccount(db, which)) keys.forget(prefix)
      roles.forget()
      return undefined
    },
  })
}

/** A service account in a reply. */
export const accountSchema = record('ServiceAccount', {
  id: z.uuid(),
  project_id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.enum(keyScopes)).describe('Scopes that its keys may have.'),
  disabled_at: instantField
    .nullable()
    .describe(
      'Time when the account was disabled. Its keys are refused from then on. null when enabled.',
    ),
  created_at: instantField,
  created_by: z.uuid().nullable(),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the account; only that resource may change it.'),
  suspended_at: instantField
    .nullable()
    .describe(
      'Time when the account was suspended: its keys cannot be created or changed. null when not suspended.',
    ),
  suspended_by: z.uuid().nullable().describe('Id of the user who revoked a key in an emergency.'),
  suspended_reason: z.string().nullable(),
  version: z.int().describe('Version of the account, also in `ETag`.'),
})

/** A page of service accounts. */
export const accountListSchema = record('ServiceAccountList', {
  service_accounts: z.array(accountSchema),
  ...pageFields,
})

/** Path parameters of one account. */
export const accountParams = z.strictObject({ service_account_id: idField })

/** Returns the error for a name that another account of the project has. */
function nameTaken(name: string): Error {
  return problem('name_taken', {
    detail: `The project has a service account "${name}" already`,
  })
}
