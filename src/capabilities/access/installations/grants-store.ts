import { derivedId } from '../../../kernel/ids.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { readById } from '../read-by-id.ts'

type Db = Kysely<AccessTables>

/** A grant as the operator of a cluster reports it. */
type ReportedGrant = {
  /** Name of the ProjectGrant. */
  name: string
  project_id: string
  /** The selected namespaces, the first of them by name. */
  namespaces: string[]
  /** Number of all selected namespaces. */
  namespace_count: number
  /** Label selector in the form of kubectl; null when the grant names its namespaces. */
  selector: string | null
  kinds: string[]
  scopes: string[]
  roles: string[]
  max_keys: number
  /** Grace from the end of the grant to the revocation: `1h`. */
  revoke_after: string
}

export type ProjectGrantRow = ReportedGrant & {
  id: string
  installation_id: string
  cluster: string
  reported_at: string
}

/** All grants of an installation at one time. */
export type GrantReport = {
  installation_id: string
  cluster: string
  grants: readonly ReportedGrant[]
  now: Date
}

/** Grants of an installation that has stopped its reports are kept for 90 days. */
const kept_days = 90

/**
 * Replaces the grants of an installation in one transaction, and returns how many are stored. Those
 * of projects that do not exist are left out: a grant may create its project later.
 */
export async function replaceGrants(db: Db, report: GrantReport): Promise<number> {
  const { installation_id, cluster, grants, now } = report
  return db.transaction().execute(async (trx) => {
    // Two processes of an operator report one after the other.
    await sql`select pg_advisory_xact_lock(hashtextextended(${installation_id}, 0))`.execute(trx)
    const oldest = new Date(now.getTime() - kept_days * 86_400_000).toISOString()
    await trx
      .deleteFrom('project_grants')
      .where(({ eb, or }) =>
        or([eb('installation_id', '=', installation_id), eb('reported_at', '<', oldest)]),
      )
      .execute()
    if (grants.length === 0) return 0
    const rows = grants.map((grant) => ({
      ...grant,
      id: derivedId(installation_id, grant.name),
      installation_id,
      cluster,
      reported_at: now.toISOString(),
    }))
    const stored = await sql`
      insert into project_grants
      select given.* from jsonb_populate_recordset(null::project_grants, ${JSON.stringify(rows)}::jsonb) as given
      join projects on projects.id = given.project_id`.execute(trx)
    return Number(stored.numAffectedRows ?? 0)
  })
}

/** Returns a page of the grants of a project, and their number. */
export function listGrants(
  db: Db,
  { project_id, ...page }: IdPage & { project_id: string },
): Promise<{ rows: ProjectGrantRow[]; counted: number }> {
  const grants = db.selectFrom('project_grants').selectAll().where('project_id', '=', project_id)
  return readById(db, grants, 'id', page)
}
