import { z } from 'zod'
import { isUuid } from '../../../../kernel/ids.ts'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { Actor } from '../../life-cycle/incident.ts'
import { moveIncident } from '../../life-cycle/move.ts'
import type { IncidentDb } from '../../ports.ts'
import { incidentNumber } from '../../store/find-incident.ts'
import { type IncidentBook, openIncidents } from '../../store/incident-book.ts'
import { coreOf, type StoredIncident } from '../../store/incident-row.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { actorOf, noteField } from './moves.ts'

/** The results of an acknowledgement. `already`: it was acknowledged before, and nothing changes. */
const ackResults = ['acknowledged', 'already', 'resolved', 'not_found'] as const

const incidents_max = 100

const body = record('AcknowledgeIncidentsRequest', {
  incidents: z
    .array(z.union([z.string().min(1).max(80), z.int().min(1)]), {
      error: expected(`1–${incidents_max} ids or numbers of incidents`),
    })
    .min(1)
    .max(incidents_max)
    .describe('Ids or numbers of incidents.'),
  note: noteField.optional().describe('Text for people, in each timeline.'),
}).superRefine(refuseUnstorable)

const resultSchema = record('IncidentAcknowledgement', {
  incident: z.string().describe('The id or number of the request.'),
  result: z
    .enum(ackResults)
    .meta({ id: 'AcknowledgementResult' })
    .describe('`already` and `resolved`: nothing changed.'),
  incident_id: z.uuid().nullable(),
  number: z.int().nullable(),
  version: z.int().nullable().describe('Version of the incident now.'),
})

/**
 * POST /api/v2/observability/incidents/ack: acknowledges many incidents, each with a result. The same
 * call twice changes nothing the second time.
 */
export function acknowledgeIncidents({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/ack',
    id: 'acknowledgeIncidents',
    summary: 'Acknowledge many incidents',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'incidents:write' },
    body,
    reply: record('AcknowledgeIncidentsReply', {
      results: z.array(resultSchema).describe('In the order of the request.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ body: { incidents, note }, caller }) => {
      const { project_id } = caller
      const names = incidents.map(String)
      const request = { project_id, names, note, actor: actorOf(caller), now_ms: clock.now_ms() }
      const results = await acknowledgeStored(db, request)
      return {
        results: results.map(({ name, result, incident }) => ({
          incident: name,
          result,
          incident_id: incident?.id ?? null,
          number: incident?.number ?? null,
          version: incident?.version ?? null,
        })),
      }
    },
  })
}

/** The acknowledgement of an incident by its given name; the incident is missing for `not_found`. */
type Acknowledgement = {
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
function acknowledgeStored(
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
