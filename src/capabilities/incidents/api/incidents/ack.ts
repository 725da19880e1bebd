import { z } from 'zod'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { acknowledgeStored, ackResults } from '../../store/acknowledge-incidents.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { actorOf, noteField } from './moves.ts'

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
          ...{ incident: name, result, incident_id: incident?.id ?? null },
          ...{ number: incident?.number ?? null, version: incident?.version ?? null },
        })),
      }
    },
  })
}
