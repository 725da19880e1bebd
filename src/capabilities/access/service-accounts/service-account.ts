import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { reasonField } from '../fields.ts'
import { setDisabled } from './change-store.ts'
import { declaredBy, getDeclarer, refuseChange } from './declaration.ts'
import { accountParams, accountSchema } from './service-accounts.ts'
import { resumeAccount } from './suspension.ts'

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
