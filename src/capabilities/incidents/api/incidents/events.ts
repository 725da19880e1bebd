import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { cursorParameter, limitParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { IncidentDb } from '../../ports.ts'
import { findIncident } from '../../store/find-incident.ts'
import type { StoredIncident } from '../../store/incident-row.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { type StoredEvent, selectEvents } from './store.ts'

const eventSchema = record('IncidentEvent', {
  seq: z.int().describe('Position in the timeline, from 1.'),
  type: z.string().describe('Such as `opened`, `acknowledged`, `escalated` or `resolved`.'),
  at: z.iso.datetime().describe('Time of the event; for rules, the end of the slot.'),
  recorded_at: z.iso.datetime(),
  actor: record('IncidentActor', {
    type: z.enum(['rule', 'user', 'key', 'channel', 'timer']),
    id: z.string(),
  }),
  note: z.string().nullable(),
  notify: z.array(z.string()).describe('Channels of an escalation step.'),
})

/** A page of a timeline. */
export const timelineSchema = record('IncidentTimeline', {
  events: z.array(eventSchema).describe('Oldest first.'),
  total: z.int().nonnegative(),
  next_cursor: z.string().nullable().describe('Cursor of `…/events`; null on the last page.'),
})

/** GET /api/v2/observability/incidents/{id}/events: the timeline of an incident, oldest first. */
export function listIncidentEvents({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/{id}/events',
    id: 'listIncidentEvents',
    summary: 'Timeline of an incident, oldest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    params: z.strictObject({
      id: z.string().describe('Id of the incident, or its number in the project.'),
    }),
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: timelineSchema,
    errors: ['incident_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { id }, query, caller: { project_id } }) =>
      readTimeline(db, await findIncident(db, project_id, id), query),
  })
}

/** Reads a page of the timeline of an incident. Throws `invalid_cursor`. */
export async function readTimeline(
  db: IncidentDb,
  row: StoredIncident,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<z.input<typeof timelineSchema>> {
  const list = `events of ${row.id}`
  const after = cursor === undefined ? 0 : seqIn(list, cursor)
  const events = await selectEvents(db, row, { after, limit: limit + 1 })
  const page = events.slice(0, limit)
  const last = events.length > limit ? page.at(-1) : undefined
  return {
    events: page.map(toEvent),
    total: row.last_seq,
    next_cursor: last === undefined ? null : encodeCursor(list, [last.seq]),
  }
}

function seqIn(list: string, cursor: string): number {
  const [seq] = decodeCursor(list, cursor, 1)
  if (typeof seq === 'number' && Number.isSafeInteger(seq)) return seq
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this timeline`,
  })
}

function toEvent({ seq, type, at, recorded_at, note, notify, ...event }: StoredEvent) {
  const actor = { type: event.actor_type, id: event.actor_id }
  return { seq, type, at, recorded_at, actor, note, notify }
}
