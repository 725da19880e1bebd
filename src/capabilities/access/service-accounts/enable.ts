import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { switchAccount, switchRoute } from './disable.ts'

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
