import { type IncidentTables, type Selectable, sql } from '../../../../platform/relational/index.ts'
import type { Matched, Suppression } from '../../muting/suppression.ts'
import type { IncidentDb } from '../../ports.ts'

/** A stored suppression. */
export type StoredSuppression = Omit<
  Selectable<IncidentTables['incident_suppressions']>,
  'spec'
> & { spec: Suppression }

/** Maximum suppressions of a project; each evaluation reads them. */
export const suppressions_max = 200

/** Names a suppression of a project. */
export type WhichSuppression = { project_id: string; suppression_id: string }

/** Returns all suppressions of a project, newest first. */
export async function selectSuppressions(
  db: IncidentDb,
  project_id: string,
): Promise<StoredSuppression[]> {
  const rows = await db
    .selectFrom('incident_suppressions')
    .selectAll()
    .where('project_id', '=', project_id)
    .orderBy('id', 'desc')
    .limit(suppressions_max)
    .execute()
  return rows as (StoredSuppression & (typeof rows)[number])[]
}

/** Finds a suppression of a project. */
export async function findSuppression(
  db: IncidentDb,
  { project_id, suppression_id }: WhichSuppression,
): Promise<StoredSuppression | undefined> {
  const row = await db
    .selectFrom('incident_suppressions')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', suppression_id)
    .executeTakeFirst()
  return row && (row as StoredSuppression & typeof row)
}

/** A suppression to write. */
export type NewSuppression = { spec: Suppression; at: Date; by: string }

/** Inserts a suppression. Returns undefined when the project has the maximum number of them. */
export function insertSuppression(
  db: IncidentDb,
  { project_id, suppression_id }: WhichSuppression,
  { spec, at, by }: NewSuppression,
): Promise<StoredSuppression | undefined> {
  return db.transaction().execute(async (trx) => {
    const lock = `looptrace.incident_suppressions ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    const stored = await selectSuppressions(trx, project_id)
    if (stored.length >= suppressions_max) return undefined
    const row = await trx
      .insertInto('incident_suppressions')
      .values({
        ...{ id: suppression_id, project_id, spec: JSON.stringify(spec), version: 1 },
        ...{ created_at: at, created_by: by, updated_at: at, updated_by: by },
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return row as StoredSuppression & typeof row
  })
}

/** Replaces a suppression of a version; of any if it is undefined. Undefined: another version. */
export async function replaceSuppression(
  db: IncidentDb,
  { project_id, suppression_id, version }: WhichSuppression & { version: number | undefined },
  { spec, at, by }: NewSuppression,
): Promise<StoredSuppression | undefined> {
  const row = await db
    .updateTable('incident_suppressions')
    .set({ spec: JSON.stringify(spec), updated_at: at, updated_by: by })
    .set({ version: sql<number>`version + 1` })
    .where('project_id', '=', project_id)
    .where('id', '=', suppression_id)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .returningAll()
    .executeTakeFirst()
  return row && (row as StoredSuppression & typeof row)
}

/** Deletes a suppression of a version. Returns false for another version. */
export async function deleteSuppression(
  db: IncidentDb,
  { project_id, suppression_id, version }: WhichSuppression & { version: number | undefined },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('incident_suppressions')
    .where('project_id', '=', project_id)
    .where('id', '=', suppression_id)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Counts the unresolved incidents that each suppression mutes now, by its id. */
export async function countMuted(db: IncidentDb, project_id: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; n: number }>`
    select id, count(*)::int as n
    from (
      select jsonb_array_elements_text(core->'suppressed_by') as id from incidents
      where project_id = ${project_id} and state <> 'resolved' and suppressed
    ) as muted
    group by id`.execute(db)
  return new Map(rows.map(({ id, n }) => [id, n]))
}

/** An unresolved incident, as matchers read it. */
export type OpenIncident = Matched & { incident_id: string; number: number; title: string }

/** Returns the newest unresolved incidents of a project. */
export async function openIncidentsOf(
  db: IncidentDb,
  project_id: string,
  limit: number,
): Promise<OpenIncident[]> {
  return db
    .selectFrom('incidents')
    .select(['id as incident_id', 'number', 'title', 'rule_name as rule', 'severity'])
    .select(['dedup_key', 'labels', 'group_values as group'])
    .where('project_id', '=', project_id)
    .where('state', '<>', 'resolved')
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
}
