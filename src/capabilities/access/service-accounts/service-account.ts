import { z } from 'zod'
import { idPageQuery, readIdPage } from '../../../model/id-pages.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { environmentField, expiryField, nameField, reasonField, scopesField } from '../fields.ts'
import { checkWithin, keyListSchema, mintKey, newKeySchema } from '../keys/key-record.ts'
import { addKey, listKeys } from '../keys/store.ts'
import { setDisabled } from './change-store.ts'
import { checkDeclaredName, declaredBy, getDeclarer, refuseChange } from './declaration.ts'
import { accountParams, accountSchema } from './service-accounts.ts'
import { findServiceAccount } from './store.ts'
import { accountNotFound, resumeAccount } from './suspension.ts'

/** POST /api/v2/access/service-accounts/{service_account_id}/disable: refuses its keys. */
export function disableServiceAccount(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    scope: { ...switchRoute.scope, in_archived: true },
    url: '/api/v2/access/service-accounts/{service_account_id}/disable',
    id: 'disableServiceAccount',
    summary: 'Refuse the keys of a service account',
    handle: ({ params, caller }) =>
      switchAccount(access, { ...params, project_id: caller.project_id }, true),
  })
}

/** The common parts of the routes that disable and enable an account. */
const switchRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'project', role: 'admin', key: null },
  params: accountParams,
  reply: accountSchema,
  errors: ['service_account_not_found', 'managed_by_kubernetes'],
} as const

/** Disables or enables an account. Throws `service_account_not_found`, `managed_by_kubernetes`. */
async function switchAccount(
  { db, clock, keys, roles }: Access,
  which: { project_id: string; service_account_id: string },
  disabled: boolean,
) {
  const changed = await setDisabled(db, which, { disabled, at: new Date(clock.now_ms()) })
  for (const prefix of changed.prefixes) keys.forget(prefix)
  roles.forget()
  return changed.account
}

/** POST /api/v2/access/service-accounts/{service_account_id}/enable: accepts its keys again. */
export function enableServiceAccount(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    url: '/api/v2/access/service-accounts/{service_account_id}/enable',
    id: 'enableServiceAccount',
    summary: 'Accept the keys of a disabled service account again',
    handle: ({ params, caller }) =>
      switchAccount(access, { ...params, project_id: caller.project_id }, false),
  })
}

/**
 * POST /api/v2/access/service-accounts/{service_account_id}/resume: ends the suspension that an
 * emergency revocation began, so that keys can be minted again. A project admin may do it, and the
 * resource that declares the account. Resuming it again changes nothing.
 */
export function resumeServiceAccount({ db, clock }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/service-accounts/{service_account_id}/resume',
    id: 'resumeServiceAccount',
    summary: 'End the suspension of a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: accountParams,
    body: record('ResumeServiceAccountRequest', {
      reason: reasonField.describe('Reason why keys can be created again. Stored permanently.'),
      managed_by: declaredBy,
    }),
    reply: accountSchema,
    errors: ['service_account_not_found', 'managed_by_kubernetes'],
    handle: ({ params, body, caller }) => {
      const by = getDeclarer(caller, body)
      const actor = by === null ? caller.id : `${by.kind}/${by.namespace}/${by.name}`
      const decision = { actor, reason: body.reason, at: new Date(clock.now_ms()) }
      return resumeAccount(
        db,
        { ...params, project_id: caller.project_id },
        {
          decision,
          check: ({ managed_by }) => by !== null && refuseChange(caller, managed_by, by),
        },
      )
    },
  })
}

/** GET /api/v2/access/service-accounts/{service_account_id}/keys: its keys, oldest first. */
export function getServiceAccountKeys({ db, clock }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/service-accounts/{service_account_id}/keys',
    id: 'listServiceAccountKeys',
    summary: 'Keys of a service account',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read', operator: true },
    params: accountParams,
    query: z.strictObject({
      live: flagParameter('`true`: only keys that are neither revoked nor expired.'),
      ...idPageQuery,
    }),
    reply: keyListSchema,
    errors: ['service_account_not_found', 'invalid_cursor'],
    handle: async ({ params, query: { live = false, cursor, limit }, caller }) => {
      const which = { ...params, project_id: caller.project_id }
      const account = await findServiceAccount(db, which)
      if (account === undefined) throw accountNotFound(params.service_account_id)
      const { items, info } = await readIdPage(list, { cursor, limit }, (page) =>
        listKeys(db, { ...which, live_at: live ? new Date(clock.now_ms()) : undefined, ...page }),
      )
      return { api_keys: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/service-accounts/{service_account_id}/keys: makes a key that works as
 * X-API-Key and as `client_secret` for an access token. By default it has all scopes of the
 * account. The account can have two live keys of one name, so that a key can be rotated.
 */
export function createServiceAccountKey({ db, clock, keys }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/service-accounts/{service_account_id}/keys',
    id: 'createServiceAccountKey',
    summary: 'Make a key of a service account',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    status: 201,
    idempotent: true,
    shown_once: ['key'],
    params: accountParams,
    body: z
      .strictObject({
        name: nameField.optional().describe("Default: the account's name."),
        scopes: scopesField.optional(),
        environment: environmentField,
        expires_at: expiryField,
        managed_by: declaredBy,
      })
      .meta({ id: 'CreateServiceAccountKeyRequest' })
      .prefault({}),
    reply: newKeySchema,
    errors: [
      'service_account_not_found',
      'managed_by_kubernetes',
      'service_account_suspended',
      'key_limit_reached',
    ],
    handle: async ({ params, body, caller }) => {
      const by = getDeclarer(caller, body)
      const { project_id } = caller
      const { service_account_id } = params
      const account = await findServiceAccount(db, { project_id, service_account_id })
      if (account === undefined) throw accountNotFound(service_account_id)
      refuseChange(caller, account.managed_by, by)
      const { name = account.name, scopes = account.scopes, environment, expires_at } = body
      checkWithin(scopes, account.scopes)
      if (by !== null && body.name !== undefined) checkDeclaredName(body.name)
      const spec = { project_id, service_account_id, name, scopes, environment, expires_at }
      const { key, row } = mintKey(spec, { caller, now: new Date(clock.now_ms()) })
      const made = await addKey(db, row)
      keys.forget(row.prefix)
      return { ...made, key }
    },
  })
}

const list = 'service account keys'
