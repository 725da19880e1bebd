import { z } from 'zod'
import { derivedId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { type IdPage, idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { Access } from '../access.ts'
import { idField, instantField } from '../fields.ts'
import { readById } from '../read-by-id.ts'

/** Maximum grants of a report. */
const grants_max = 1_000
/** Maximum bytes of a report: 1,000 grants with 50 namespaces each. */
const report_bytes_max = 8 * 1024 * 1024

/** A word of a cluster: a name, a kind, a scope. */
const wordField = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[\w.:/-]+$/)
  .meta({ id: 'ClusterWord' })
const wordsField = z.array(wordField).max(50)
const selectorField = z
  .string()
  .max(4_096)
  .regex(/^[\x20-\x7e]*$/)
  .meta({ id: 'LabelSelectorText' })
const graceField = z
  .string()
  .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)
  .meta({ id: 'GrantGrace' })

const grantFields = {
  name: wordField.describe('Name of the ProjectGrant.'),
  project_id: idField,
  namespaces: wordsField.describe('Namespaces that may name the project, the first 50 by name.'),
  namespace_count: z.int().min(0).describe('Number of all these namespaces.'),
  selector: selectorField
    .nullable()
    .describe(
      'Label selector of the namespaces, as in kubectl, cut at 4,096 characters. null: the grant names them.',
    ),
  kinds: wordsField.describe('Kinds whose resources may name the project.'),
  scopes: wordsField.describe('Scopes that service accounts may have at most.'),
  roles: wordsField.describe('Roles that members may have at most.'),
  max_keys: z
    .int()
    .min(0)
    .describe('Maximum keys that the resources of one namespace may declare together.'),
  revoke_after: graceField.describe('Grace from the end of the grant to the revocation of keys.'),
}

/**
 * PUT /api/v2/access/installations/{installation_id}/grants: the grants of a cluster, the first 1,000
 * by name, in place of those that its operator reported before. Only for operators. The grants are shown; what they allow
 * is decided in the cluster.
 */
export function putInstallationGrants({ db, clock }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/installations/{installation_id}/grants',
    id: 'putInstallationGrants',
    summary: 'Report the ProjectGrants of a cluster, the first 1,000 by name',
    auth: 'jwt',
    scope: { level: 'user', operator: true },
    // An operator repeats it every few minutes. The cluster's own audit log has the changes.
    audit: 'refusals',
    body_bytes_max: report_bytes_max,
    params: z.strictObject({ installation_id: idField }),
    body: record('InstallationGrants', {
      cluster: wordField.describe('Uid of the namespace `kube-system` of the cluster.'),
      grants: z
        .array(record('InstallationGrant', grantFields))
        .max(grants_max)
        .refine(
          (grants) => new Set(grants.map(({ name }) => name)).size === grants.length,
          'expected different names',
        ),
    }),
    reply: record('InstallationGrantsStored', {
      stored: z
        .int()
        .describe('Number of stored grants. One whose project does not exist yet is left out.'),
    }),
    errors: [],
    handle: async ({ params: { installation_id }, body, caller }) => {
      if (caller.kind !== 'operator') {
        throw problem('permission_denied', {
          detail: 'Only the operator of a cluster may report its grants',
        })
      }
      const now = new Date(clock.now_ms())
      return { stored: await replaceGrants(db, { installation_id, now, ...body }) }
    },
  })
}

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

type ProjectGrantRow = ReportedGrant & {
  id: string
  installation_id: string
  cluster: string
  reported_at: string
}

/** All grants of an installation at one time. */
type GrantReport = {
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
async function replaceGrants(db: Db, report: GrantReport): Promise<number> {
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
function listGrants(
  db: Db,
  { project_id, ...page }: IdPage & { project_id: string },
): Promise<{ rows: ProjectGrantRow[]; counted: number }> {
  const grants = db.selectFrom('project_grants').selectAll().where('project_id', '=', project_id)
  return readById(db, grants, 'id', page)
}

/** GET /api/v2/access/projects/{project_id}/grants: the namespaces of clusters that may name it. */
export function getProjectGrants({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/grants',
    id: 'listProjectGrants',
    summary: 'Namespaces of clusters that may name a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: z.strictObject({ project_id: idField }),
    query: z.strictObject(idPageQuery),
    reply: record('ProjectGrantList', {
      grants: z.array(
        record('ReportedProjectGrant', {
          id: z.uuid(),
          ...grantFields,
          installation_id: z.uuid().describe('Installation of the operator that reported it.'),
          cluster: z.string().describe('Uid of the namespace `kube-system` of the cluster.'),
          reported_at: instantField.describe(
            'Time of the last report. An operator reports every five minutes, and after a change within ten seconds.',
          ),
        }),
      ),
      ...pageFields,
    }),
    errors: ['project_not_found', 'invalid_cursor'],
    handle: async ({ params, query: { cursor, limit } }) => {
      const { items, info } = await readIdPage(list, { cursor, limit }, (page) =>
        listGrants(db, { ...params, ...page }),
      )
      return { grants: items, ...info }
    },
  })
}

const list = 'grants of a project'
