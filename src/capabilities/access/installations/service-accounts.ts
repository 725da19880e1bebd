import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { idPageQuery, readIdPage } from '../../../model/id-pages.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { accountListSchema } from '../service-accounts/service-accounts.ts'
import { listLiveAccounts } from './store.ts'

/**
 * GET /api/v2/access/installations/{installation_id}/service-accounts: the accounts with a live key
 * that resources of an installation declare, in all projects. Only for operators, which use it to
 * find accounts whose resource was deleted.
 */
export function getInstallationAccounts({ db, clock }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/installations/{installation_id}/service-accounts',
    id: 'listInstallationServiceAccounts',
    summary: 'Service accounts with live keys of an operator’s installation',
    auth: 'jwt',
    scope: { level: 'user', operator: true },
    params: z.strictObject({ installation_id: idField }),
    query: z.strictObject(idPageQuery),
    reply: accountListSchema,
    errors: ['invalid_cursor'],
    handle: async ({ params, query, caller }) => {
      if (caller.kind !== 'operator') {
        throw problem('permission_denied', {
          detail: 'Only the operator of a cluster may list the accounts of an installation',
        })
      }
      const { items, info } = await readIdPage(list, query, (page) =>
        listLiveAccounts(db, { ...params, live_at: new Date(clock.now_ms()), ...page }),
      )
      return { service_accounts: items, ...info }
    },
  })
}

const list = 'service accounts of an installation'
