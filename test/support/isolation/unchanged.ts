import { sql } from '../../../src/platform/relational/index.ts'
import { eventually } from '../eventually.ts'
import type { Victim } from './victim.ts'
import type { World } from './world.ts'

/**
 * Tables that change without a call: records of calls, and what workers note about time that passes.
 */
const passing = new Set([
  ...['audit_records', 'audit_reads', 'audit_chains', 'audit_checkpoints', 'idempotency_keys'],
  ...['job_runs', 'evaluation_leases', 'rule_evaluations', 'rule_states', 'rule_samples'],
  // The victim's own erasures are still running.
  ...['erasures', 'ingest_ledger'],
  // Counts and times of the victim's own queries: every process keeps them in memory and writes
  // them every 5 s, so some are written after the first digest. They hold no data of a tenant.
  ...['route_stats', 'recorded_queries'],
])

/** Returns a digest of the victim's rows for each table of both stores, by the name of the table. */
async function digestRows(
  { db, columnar, project_id }: World,
  { organization_id, ids }: Victim,
): Promise<Record<string, string>> {
  const columns = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and column_name in ('project_id', 'organization_id')`.execute(db)
  const digests: Record<string, string> = {}
  for (const { table_name, column_name } of columns.rows) {
    if (passing.has(table_name)) continue
    const id = column_name === 'project_id' ? project_id : organization_id
    const { rows } = await sql<{ digest: string | null }>`
      select md5(string_agg(t::text, ' ' order by t::text)) as digest
      from ${sql.table(table_name)} t where ${sql.ref(column_name)} = ${id}`.execute(db)
    digests[`${table_name}.${column_name}`] = String(rows[0]?.digest)
  }
  const { user_id, member_user_id = '' } = ids
  const people = await sql<{ digest: string }>`
    select md5(string_agg(t::text, ' ' order by t::text)) as digest from users t
    where id in (${user_id}, ${member_user_id})`.execute(db)
  digests['users'] = String(people.rows[0]?.digest)
  const tables = await columnar.query<{ table: string }>(
    `select table from system.columns
     where database = currentDatabase() and name = 'project_id' and table not like '.%'`,
    {},
  )
  for (const { table } of tables) {
    if (passing.has(table)) continue
    const rows = await columnar.query(
      `select toString(groupBitXor(cityHash64(*))) as digest, count() as count
       from ${table} where project_id = {project_id: UUID}`,
      { project_id },
    )
    digests[`clickhouse ${table}`] = JSON.stringify(rows)
  }
  return digests
}

/** Tells whether a worker still has to count votes of the victim's, or to analyse its tasks. */
async function hasDueWork({ db, project_id }: World): Promise<boolean> {
  const { rows } = await sql`
    select from rated_tasks_due where project_id = ${project_id}
    union all
    select from task_detections where project_id = ${project_id} and due_at is not null
    limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Waits until no work of the victim is due, and two digests, half a second apart, are equal. Equal
 * digests alone are no sign of rest: on a slow machine work waits for longer than half a second.
 */
export async function settledRows(world: World, victim: Victim): Promise<Record<string, string>> {
  let last = ''
  return eventually(
    'the rows of the victim settle',
    async () => {
      if (await hasDueWork(world)) return false
      const digests = await digestRows(world, victim)
      const text = JSON.stringify(digests)
      const isSame = text === last
      last = text
      return isSame && digests
    },
    { interval_ms: 500 },
  )
}
