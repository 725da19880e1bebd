import pg from 'pg'
import { appRole } from './app-role.ts'

/**
 * Tables without rows of tenants, and why row-level security does not apply to them. Every other
 * table has a policy; a test compares this list with the catalog.
 */
export const tablesWithoutPolicy: Readonly<Record<string, string>> = {
  audit_streams: 'receivers of the installation, with their failed attempts',
  audit_keys: 'keys of the installation that sign checkpoints',
  browser_sessions: 'sessions of people, who belong to no tenant',
  certification_keys: 'keys of the installation that sign statements',
  evaluation_workers: 'workers that evaluate rules, with the number of their projects',
  operator_keys: 'keys of operators, who work for every tenant',
  password_resets: 'links of people, who belong to no tenant',
  refresh_tokens: 'tokens of people, who belong to no tenant',
  schema_migrations: 'state of the schema',
  sign_in_counts: 'counts of sign-in attempts by hashes of account and network',
  sign_in_networks: 'networks of people by hashes of account and network',
  signing_keys: 'keys of the installation that sign access tokens',
  used_sign_ins: 'hashes of sign-ins that were completed',
  user_identities: 'accounts of people at an issuer',
  users: 'people, who belong to no tenant; their memberships have policies',
  data_moves: 'progress of a move from the embedded databases; only the command creates it',
}

const project = '(select looptrace_project_id())'
const organization = '(select looptrace_organization_id())'
/**
 * The organization of the scope, also of a project's scope. It is written out, because PostgreSQL
 * keeps no plan for a function with a statement of its own.
 */
const ownOrganization = `(select coalesce(looptrace_organization_id(),
  (select organization_id from projects where id = looptrace_project_id())))`

const ofProject = `project_id = ${project}`
/** Also matches in the scope of a batch of several projects. */
const ofBatch = `${ofProject} or project_id = any ((select looptrace_project_ids())::uuid[])`
/** Also matches in the scope of the organization: its routes change the access to its projects. */
const ofProjectAccess = `${ofProject}
  or project_id in (select id from projects where organization_id = ${organization})`
const ofOrganization = `organization_id = ${ownOrganization}`
const ofParent = (parent: string, key: string, column: string) =>
  `exists (select from ${parent} p where p.${key} = ${column} and p.${ofProject})`

/** Tables that ingest and detection write for several projects in one statement. */
const batchTables = [
  'tasks',
  'task_events',
  'task_detections',
  'conversations',
  'large_rollups',
  'recent_traces',
  'recent_links',
  'recent_responses',
  'feedback_tasks',
  'review_labels',
  'erasures',
  'erased_traces',
  'erasure_keys',
  'ingest_requests',
]

/** Tables of the audit trail, whose rows belong to a chain. */
const chainTables = [
  'audit_chains',
  'audit_records',
  'audit_reads',
  'audit_read_batches',
  'audit_erasures',
  'audit_stream_cursors',
  'audit_stream_refusals',
  'audit_checkpoints',
]
/**
 * Most statements on a chain write one row, so the functions are called for each row: to prepare a
 * `select` around them costs more than the row.
 */
const ofChain = 'chain_id = looptrace_chain_id() or looptrace_is_installation()'

/** Conditions of tables that `project_id` alone does not assign to a tenant. */
const conditions: Readonly<Record<string, string>> = {
  organizations: `id = ${ownOrganization}`,
  organization_members: ofOrganization,
  projects: `id = ${project} or organization_id = ${organization}`,
  invitations: ofOrganization,
  invitation_links: ofOrganization,
  invitation_projects: ofProjectAccess,
  project_members: ofProjectAccess,
  project_grants: ofProjectAccess,
  service_accounts: ofProjectAccess,
  api_keys: ofProjectAccess,
  idempotency_keys: `tenant_id = (select coalesce(looptrace_project_id(), looptrace_organization_id()))`,
  archive_files: ofParent('job_runs', 'id', 'job_id'),
  retention_buckets: ofParent('job_runs', 'id', 'job_id'),
  // The policy of the parent applies in it, also that of a batch.
  ingest_request_messages: `exists (select from ingest_requests p
    where p.ingest_request_id = ingest_request_messages.ingest_request_id)`,
  kb_document_versions: ofParent('kb_documents', 'id', 'document_id'),
  kb_embeddings: ofParent('kb_chunks', 'id', 'chunk_id'),
}

const orInstallation = (condition: string) => `(select looptrace_is_installation()) or ${condition}`

/**
 * A partition is read through its table, whose policy applies. A direct read finds rows only in the
 * scope of the installation, for the owner: pg_dump reads partitions.
 */
const ofPartition = orInstallation('false')

/** A table of the catalog. `comment` is that of its policy, which holds the condition. */
type Table = {
  name: string
  is_partition: boolean
  has_project: boolean
  is_forced: boolean
  comment: string | null
}

const policyName = 'tenant'

/**
 * Sets up row-level security: the role of the service with its grants, and a policy for each table
 * with rows of tenants, which also applies to the owner of the table. Runs after each run of the
 * migrations, and changes only what differs. A login that may not create roles works without the
 * role.
 */
export async function createTenantPolicies(client: pg.Client): Promise<void> {
  const ready = await client.query(
    "select to_regproc('looptrace_project_ids') is not null as is_ready",
  )
  if (ready.rows[0]?.is_ready !== true) return
  for (const table of await listTables(client)) {
    const using = conditionFor(table)
    if (using !== undefined) await createPolicy(client, table, using)
  }
  if (await makeRole(client)) await grant(client)
}

/** Returns the condition of a table's policy; undefined for a table without tenants. */
function conditionFor({ name, is_partition, has_project }: Table): string | undefined {
  if (name in tablesWithoutPolicy) return undefined
  if (is_partition) return ofPartition
  if (chainTables.includes(name)) return ofChain
  if (batchTables.includes(name)) return orInstallation(ofBatch)
  const condition = conditions[name] ?? (has_project ? ofProject : undefined)
  return condition === undefined ? undefined : orInstallation(condition)
}

async function createPolicy(client: pg.Client, table: Table, using: string): Promise<void> {
  if (table.is_forced && table.comment === using) return
  await client.query('begin')
  try {
    for (const statement of policyStatements(table.name, using)) await client.query(statement)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name, c.relispartition as is_partition,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id'
        and not a.attisdropped) as has_project,
      c.relrowsecurity and c.relforcerowsecurity as is_forced,
      obj_description(p.oid, 'pg_policy') as comment
    from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = '${policyName}'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    order by c.relname`)
  return rows
}

/**
 * Creates the role, which is shared by all databases of the server, and makes the login a member.
 * Returns whether the role exists. Another database may create the role at the same time.
 */
async function makeRole(client: pg.Client): Promise<boolean> {
  await ignore(client, `create role ${appRole} nologin`, ['42710', '23505', '42501'])
  const { rows } = await client.query(
    `select exists (select from pg_roles where rolname = '${appRole}') as found,
       coalesce((select rolsuper from pg_roles where rolname = current_user), false) as is_super`,
  )
  if (rows[0]?.found !== true) return false
  // Since PostgreSQL 16, the creator of a role is its administrator, but may not switch to it.
  if (!rows[0].is_super) {
    await ignore(client, `grant ${appRole} to current_user`, ['42501', '0LP01'])
  }
  return true
}

/** Runs a statement, and ignores errors with one of these SQLSTATEs. */
async function ignore(client: pg.Client, text: string, codes: readonly string[]): Promise<void> {
  await client.query(text).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!codes.includes(code)) throw error
  })
}

/**
 * Grants the privileges of the service. Partitions get none, and there are no default privileges,
 * which would include partitions: they are read through their table.
 */
async function grant(client: pg.Client): Promise<void> {
  const tables = (await listTables(client)).filter(({ is_partition }) => !is_partition)
  const names = tables.map(({ name }) => client.escapeIdentifier(name)).join(', ')
  const schema = client.escapeIdentifier(
    (await client.query('select current_schema() as name')).rows[0]?.name,
  )
  await client.query(`grant usage on schema ${schema} to ${appRole};
    grant select, insert, update, delete on table ${names} to ${appRole};
    grant usage, select on all sequences in schema ${schema} to ${appRole}`)
}

/** Returns the statements that set up row-level security of a new partition. */
export function partitionPolicy(name: string): string[] {
  return policyStatements(name, ofPartition)
}

function policyStatements(table: string, using: string): string[] {
  const name = pg.escapeIdentifier(table)
  return [
    `alter table ${name} enable row level security, force row level security`,
    `drop policy if exists ${policyName} on ${name}`,
    `create policy ${policyName} on ${name} using (${using}) with check (${using})`,
    `comment on policy ${policyName} on ${name} is ${pg.escapeLiteral(using)}`,
  ]
}
