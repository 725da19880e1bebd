import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { nameField, scopesField } from '../fields.ts'
import { accountNotFound, accountParams, accountSchema, nameTaken } from './account-schema.ts'
import { changeAccount, deleteAccount, releaseAccount } from './change-store.ts'
import {
  declaredBy,
  declaredByParameter,
  refuseChange,
  spokenFor,
  takeOver,
} from './declaration.ts'
import { findServiceAccount } from './store.ts'

/** GET /api/v2/access/service-accounts/{service_account_id}. */
export function getServiceAccount({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'getServiceAccount',
    summary: 'One service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: 'access:read', operator: true },
    params: accountParams,
    reply: accountSchema,
    errors: ['service_account_not_found'],
    handle: async ({ params, caller }) => {
      const found = await findServiceAccount(db, { ...params, project_id: caller.project_id })
      if (found === undefined) throw accountNotFound(params.service_account_id)
      return found
    },
  })
}

/**
 * PUT /api/v2/access/service-accounts/{service_account_id}: replaces what it is. Its keys lose the
 * scopes that it loses; those that it gains, its keys are given one by one. An account that nobody
 * declares becomes the resource's that an operator speaks for.
 */
export function putServiceAccount({ db, clock, keys, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'putServiceAccount',
    summary: 'Change a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: accountParams,
    body: record('PutServiceAccountRequest', {
      name: nameField,
      scopes: scopesField,
      disabled: z.boolean().default(false).describe('While true its keys are refused.'),
      managed_by: declaredBy,
      take_over: takeOver,
    }),
    reply: accountSchema,
    errors: ['service_account_not_found', 'name_taken', 'managed_by_kubernetes'],
    handle: async ({ params, body, caller }) => {
      const which = { ...params, project_id: caller.project_id }
      const { name, scopes, disabled, take_over } = body
      const changed = await changeAccount(db, which, {
        ...{ name, scopes, disabled, take_over },
        by: spokenFor(caller, body),
        at: new Date(clock.now_ms()),
      })
      if (changed === undefined) throw accountNotFound(params.service_account_id)
      if (changed === 'name_taken') throw nameTaken(name)
      if (changed === 'declares_another') {
        throw problem('name_taken', {
          detail: 'The resource declares another service account of the project already',
        })
      }
      for (const prefix of changed.prefixes) keys.forget(prefix)
      roles.forget()
      return changed.account
    },
  })
}

/**
 * DELETE /api/v2/access/service-accounts/{service_account_id}: with all its keys; tokens that were
 * got with them end within 30 s. With `retain` its resource lets go of it instead, and it stays as it
 * is.
 */
export function removeServiceAccount({ db, keys, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'deleteServiceAccount',
    summary: 'Delete a service account and its keys',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    status: 204,
    params: accountParams,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter('`true`: it stays, and nothing declares it. With `managed_by`.'),
    }),
    reply: z.undefined(),
    errors: ['service_account_not_found', 'managed_by_kubernetes'],
    handle: async ({ params, query: { managed_by, retain = false }, caller }) => {
      const by = spokenFor(caller, { managed_by, take_over: retain })
      const which = { ...params, project_id: caller.project_id }
      const found = await findServiceAccount(db, which)
      if (found === undefined) throw accountNotFound(params.service_account_id)
      refuseChange(caller, found.managed_by, by)
      if (retain && found.managed_by !== null) {
        await releaseAccount(db, which, found.managed_by)
        return undefined
      }
      for (const prefix of await deleteAccount(db, which)) keys.forget(prefix)
      roles.forget()
      return undefined
    },
  })
}
