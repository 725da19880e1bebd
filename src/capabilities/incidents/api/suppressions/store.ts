import { type IncidentTables, type Selectable, sql } from '../../../../platform/relational/index.ts'
import { NamedTable } from '../../../documents/index.ts'
import type { Matched, Suppression } from '../../muting/suppression.ts'
import type { IncidentDb } from '../../ports.ts'

/** A stored suppression. */
export type StoredSuppression = Omit<
  Selectable<IncidentTables['incident_suppressions']>,
  'spec'
> & { spec: Suppression }

/** Maximum suppressions of a project; each evaluation reads them. */
export const suppressions_max = 200

/** The table of suppressions. */
export const suppressionTable = new NamedTable<StoredSuppression>('incident_suppressions', {
  json: ['spec'],
  noun: 'suppression',
  not_found: 'suppression_not_found',
})

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
