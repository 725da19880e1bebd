import type { IdPage } from '../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { isLive } from '../keys/store.ts'
import { readPage, type ServiceAccountRow } from '../service-accounts/store.ts'

type Db = Kysely<AccessTables>

/**
 * Returns a page of the service accounts that resources of an installation declare, in all projects
 * that are not archived, oldest first: those with a key that is live at the time.
 */
export async function listLiveAccounts(
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
