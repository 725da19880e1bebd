import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { deleteServiceAccount } from './store.ts'

/**
 * DELETE /api/v2/access/service-accounts/{service_account_id}: with all its keys; tokens that were
 * got with them end within 30 s.
 */
export function removeServiceAccount({ db, keys, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/service-accounts/{service_account_id}',
    id: 'deleteServiceAccount',
    summary: 'Delete a service account and its keys',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 204,
    params: z.strictObject({ service_account_id: idField }),
    reply: z.undefined(),
    errors: ['service_account_not_found'],
    handle: async ({ params, caller }) => {
      const prefixes = await deleteServiceAccount(db, { ...params, project_id: caller.project_id })
      if (prefixes === undefined) {
        throw problem('service_account_not_found', {
          detail: `The project has no service account with the id ${params.service_account_id}`,
        })
      }
      for (const prefix of prefixes) keys.forget(prefix)
      roles.forget()
      return undefined
    },
  })
}
