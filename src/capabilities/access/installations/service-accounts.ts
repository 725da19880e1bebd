import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { type IdPage, idPageQuery, readIdPage } from '../../../model/id-pages.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { isLive } from '../keys/store.ts'
import { accountListSchema } from '../service-accounts/service-accounts.ts'
import { readPage, type ServiceAccountRow } from '../service-accounts/store.ts'

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

type Db = Kysely<AccessTables>

/**
 * Returns a page of the service accounts that resources of an installation declare, in all projects
 * that are not archived, oldest first: those with a key that is live at the time.
 */
async function listLiveAccounts(
  db: Db,
  { installation_id, live_at, ...page }: IdPage & InstallationAt,
): Promise<{ rows: ServiceAccountRow[]; counted: number }> {
  const accounts = db
    .selectFrom('service_accounts')
    .where(sql`managed_by->>'installation'`, '=', installation_id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('projects')
          .select('projects.id')
          .whereRef('projects.id', '=', 'service_accounts.project_id')
          .where('archived_at', 'is', null),
      ),
    )
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('api_keys')
          .select('api_keys.id')
          .whereRef('service_account_id', '=', 'service_accounts.id')
          .where(isLive(live_at)),
      ),
    )
  return readPage(db, accounts, page)
}

type InstallationAt = { installation_id: string; live_at: Date }

const list = 'service accounts of an installation'
