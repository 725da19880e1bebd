import { isUuid } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { IncidentDb } from '../ports.ts'
import type { StoredIncident } from './incident-row.ts'

const numberPattern = /^[1-9]\d{0,14}$/

/** Returns the number that a text names; undefined if the text is not the number of an incident. */
export function incidentNumber(text: string): number | undefined {
  return numberPattern.test(text) ? Number(text) : undefined
}

/** Finds an incident of a project by its id or its number. Throws `incident_not_found`. */
export async function findIncident(
  db: IncidentDb,
  project_id: string,
  id: string,
): Promise<StoredIncident> {
  const incidents = db.selectFrom('incidents').selectAll().where('project_id', '=', project_id)
  const number = incidentNumber(id)
  const row = isUuid(id)
    ? await incidents.where('id', '=', id).executeTakeFirst()
    : number === undefined
      ? undefined
      : await incidents.where('number', '=', number).executeTakeFirst()
  if (row !== undefined) return row
  throw problem('incident_not_found', {
    detail: `id: got "${id.slice(0, 80)}", expected the id or the number of an incident of this project`,
  })
}
