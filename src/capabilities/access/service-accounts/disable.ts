import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { accountNotFound, accountParams, accountSchema } from './account-schema.ts'
import { setDisabled } from './change-store.ts'

/** POST /api/v2/access/service-accounts/{service_account_id}/disable: its keys are refused. */
export function disableServiceAccount(access: Access): Route {
  return defineRoute({
    ...about,
    url: '/api/v2/access/service-accounts/{service_account_id}/disable',
    id: 'disableServiceAccount',
    summary: 'Refuse the keys of a service account',
    handle: ({ params, caller }) =>
      change(access, { ...params, project_id: caller.project_id }, true),
  })
}

/** POST /api/v2/access/service-accounts/{service_account_id}/enable: its keys are good again. */
export function enableServiceAccount(access: Access): Route {
  return defineRoute({
    ...about,
    url: '/api/v2/access/service-accounts/{service_account_id}/enable',
    id: 'enableServiceAccount',
    summary: 'Take the keys of a disabled service account again',
    handle: ({ params, caller }) =>
      change(access, { ...params, project_id: caller.project_id }, false),
  })
}

const about = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'project', role: 'admin', key: null },
  params: accountParams,
  reply: accountSchema,
  errors: ['service_account_not_found', 'managed_by_kubernetes'],
} as const

async function change(
  { db, clock, keys, roles }: Access,
  which: { project_id: string; service_account_id: string },
  disabled: boolean,
) {
  const changed = await setDisabled(db, which, { disabled, at: new Date(clock.now_ms()) })
  if (changed === undefined) throw accountNotFound(which.service_account_id)
  for (const prefix of changed.prefixes) keys.forget(prefix)
  roles.forget()
  return changed.account
}
