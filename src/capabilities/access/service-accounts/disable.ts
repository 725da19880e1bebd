import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { setDisabled } from './change-store.ts'
import { accountParams, accountSchema } from './service-accounts.ts'

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
export const switchRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'project', role: 'admin', key: null },
  params: accountParams,
  reply: accountSchema,
  errors: ['service_account_not_found', 'managed_by_kubernetes'],
} as const

/** Disables or enables an account. Throws `service_account_not_found`, `managed_by_kubernetes`. */
export async function switchAccount(
  { db, clock, keys, roles }: Access,
  which: { project_id: string; service_account_id: string },
  disabled: boolean,
) {
  const changed = await setDisabled(db, which, { disabled, at: new Date(clock.now_ms()) })
  for (const prefix of changed.prefixes) keys.forget(prefix)
  roles.forget()
  return changed.account
}
