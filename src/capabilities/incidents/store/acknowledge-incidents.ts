import { isUuid } from '../../../kernel/ids.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Actor } from '../life-cycle/incident.ts'
import { moveIncident } from '../life-cycle/move.ts'
import type { IncidentDb } from '../ports.ts'
import { incidentNumber } from './find-incident.ts'
import { type IncidentBook, openIncidents } from './incident-book.ts'
import { coreOf, type StoredIncident } from './incident-row.ts'

/** The results of an acknowledgement. `already`: it was acknowledged before, and nothing changes. */
export const ackResults = ['acknowledged', 'already', 'resolved', 'not_found'] as const

/** The acknowledgement of an incident by its given name; the incident is missing for `not_found`. */
export type Acknowledgement = {
  name: string
  result: (typeof ackResults)[number]
  incident?: StoredIncident
}

/** Incidents to acknowledge, named by id or number, and who acknowledges them. */
type AckRequest = {
  project_id: string
  names: readonly string[]
  note: string | undefined
  actor: Actor
  now_ms: number
}

/**
 * Acknowledges incidents of a project in one transaction, in the given order. An incident that is
 * named twice is acknowledged once.
 */
export function acknowledgeStored(
  db: IncidentDb,
  { project_id, names, note, actor, now_ms }: AckRequest,
): Promise<Acknowledgement[]> {
  return db.transaction().execute(async (trx) => {
    const book = await openIncidents(trx, { project_id, now_ms })
    const found = await readNamed(trx, book, names)
    const results = names.map((name): Acknowledgement => {
      const row = found.get(name)
      if (row === undefined) return { name, result: 'not_found' }
      const before = book.latest(row)
      const moved = moveIncident(coreOf(before), { type: 'ack', at_ms: now_ms, note }, actor)
      if (moved.kind === 'refused') return { name, result: 'resolved', incident: before }
      if (moved.kind === 'unchanged') return { name, result: 'already', incident: before }
      return { name, result: 'acknowledged', incident: book.record({ before, change: moved }) }
    })
    await book.save()
    return results
  })
}

/** Reads the incidents with the given names. */
async function readNamed(
  trx: IncidentDb,
  book: IncidentBook,
  names: readonly string[],
): Promise<Map<string, StoredIncident>> {
  const ids = names.filter(isUuid).map((name) => name.toLowerCase())
  const numbers = names.flatMap((name) => incidentNumber(name) ?? [])
  const rows = await trx
    .selectFrom('incidents')
    .select('id')
    .where('project_id', '=', book.project_id)
    .where(sql<boolean>`(id = any(${ids}::uuid[]) or number = any(${numbers}::int8[]))`)
    .execute()
  const incidents = await book.readAll(rows.map(({ id }) => id))
  const byName = new Map<string, StoredIncident>()
  for (const name of names) {
    const number = incidentNumber(name)
    const row = incidents.find((one) => one.id === name.toLowerCase() || one.number === number)
    if (row !== undefined) byName.set(name, row)
  }
  return byName
}
