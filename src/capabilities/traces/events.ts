import { z } from 'zod'
import { encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { isoFromNs } from '../../kernel/time.ts'
import {
  checkWindow,
  cursorParameter,
  instantParameter,
  limitParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { levels } from '../../model/observation.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { EventRow } from '../storage/index.ts'
import {
  orderParameter,
  pageFields,
  readPosition,
  recordFields,
  textOrNull,
} from './record-pages.ts'
import { checkTraceExists, type TraceDeps, tracePath } from './trace-path.ts'

/** Maximum bytes of text on a page. A page ends early at this bound. */
const page_bytes_max = 8 * 1024 * 1024

/** GET /api/v2/observability/traces/{trace_id}/events: lists the events of a trace. */
export function listTraceEvents({ records }: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/events',
    id: 'listTraceEvents',
    summary: 'Events of a trace, in order of time',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: querySchema,
    reply: replySchema,
    errors: ['trace_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      checkWindow(query)
      const { order, limit, cursor, ...filter } = query
      const list = `events of ${trace_id} ${order}`
      const after = cursor === undefined ? {} : { after: readPosition(list, cursor, places) }
      const [{ rows, more }, total] = await Promise.all([
        records.traceEvents(project_id, trace_id, {
          ...filter,
          ...after,
          order,
          limit,
          bytes_max: page_bytes_max,
        }),
        records.countTraceEvents(project_id, trace_id, { ...filter, limit: totalExactMax + 1 }),
      ])
      if (rows.length === 0) await checkTraceExists(records, project_id, trace_id)
      const last = more ? rows.at(-1) : undefined
      const next = last && cursorAfter(list, last)
      return { events: rows.map(eventFrom), ...pageInfo(total, next ?? null) }
    },
  })
}

const places = { time: 'time', observation_id: 'text', event_id: 'text' } as const

function cursorAfter(list: string, { time, observation_id, event_id }: EventRow): string {
  return encodeCursor(list, [time.toString(), observation_id, event_id])
}

const querySchema = z.strictObject({
  name: textParameter('Returns only events with exactly this name.'),
  observation_id: textParameter('Returns only events of this observation.'),
  from: instantParameter('Start of the window, inclusive.'),
  to: instantParameter('End of the window, exclusive.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const eventSchema = z
  .strictObject({
    event_id: z.string().describe('Id, unique within the observation.'),
    ...recordFields,
    name: z.string().describe('Name of the event.'),
    level: z
      .enum(levels)
      .exclude([''])
      .nullable()
      .describe('Severity of the event; null if unknown.'),
    body: z.string().nullable().describe('Text, or JSON as text; the message of a GenAI event.'),
    attributes: z.record(z.string(), z.string()).describe('Attributes given by the client.'),
  })
  .meta({ id: 'TraceEvent' })

const replySchema = record('TraceEventList', {
  events: z
    .array(eventSchema)
    .describe('Events of the page, in order. May be fewer than `limit` if events are large.'),
  ...pageFields,
})

function eventFrom(row: EventRow): z.infer<typeof eventSchema> {
  return {
    event_id: row.event_id,
    trace_id: row.trace_id,
    observation_id: textOrNull(row.observation_id),
    time: isoFromNs(row.time),
    source: row.source,
    name: row.name,
    level: row.level === '' ? null : row.level,
    body: textOrNull(row.body),
    attributes: row.attributes,
  }
}
