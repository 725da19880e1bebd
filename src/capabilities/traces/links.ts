import { z } from 'zod'
import { cutPage, encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { isoFromNs } from '../../kernel/time.ts'
import {
  checkWindow,
  cursorParameter,
  expected,
  instantParameter,
  limitParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { LinkRow } from '../storage/index.ts'
import {
  orderParameter,
  pageFields,
  readPosition,
  recordFields,
  textOrNull,
} from './record-pages.ts'
import { checkTraceExists, type TraceDeps, tracePath } from './trace-path.ts'

/** GET /api/v2/observability/traces/{trace_id}/links: lists the links of a trace. */
export function listTraceLinks({ records }: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/links',
    id: 'listTraceLinks',
    summary: 'Links from and to a trace',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: querySchema,
    reply: replySchema,
    errors: ['trace_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      checkWindow(query)
      const { order, limit, cursor, ...filter } = query
      const list = `links of ${trace_id} ${order}`
      const after = cursor === undefined ? {} : { after: readPosition(list, cursor, places) }
      const [rows, total] = await Promise.all([
        records.traceLinks(project_id, trace_id, { ...filter, ...after, order, limit: limit + 1 }),
        records.countTraceLinks(project_id, trace_id, { ...filter, limit: totalExactMax + 1 }),
      ])
      if (rows.length === 0) await checkTraceExists(records, project_id, trace_id)
      const { items: page, last } = cutPage(rows, limit)
      const next = last && cursorAfter(list, last)
      return { links: page.map((row) => linkFrom(row, trace_id)), ...pageInfo(total, next ?? null) }
    },
  })
}

const places = {
  time: 'time',
  trace_id: 'trace_id',
  observation_id: 'text',
  link_id: 'text',
} as const

function cursorAfter(list: string, { time, trace_id, observation_id, link_id }: LinkRow): string {
  return encodeCursor(list, [time.toString(), trace_id, observation_id, link_id])
}

const directions = ['from', 'to'] as const

const querySchema = z.strictObject({
  direction: z
    .enum(directions, { error: expected('from or to') })
    .optional()
    .describe('`from`: returns only links from the trace; `to`: only links to it.'),
  observation_id: textParameter('Returns only links from or to this observation of the trace.'),
  from: instantParameter('Start of the window of the linking observation, inclusive.'),
  to: instantParameter('End of the window of the linking observation, exclusive.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const linkSchema = z
  .strictObject({
    link_id: z.string().describe('Id, unique within the linking observation.'),
    direction: z
      .enum(directions)
      .meta({ id: 'LinkDirection' })
      .describe('`from`: a link from the trace of the path; `to`: a link to it.'),
    ...recordFields,
    linked_trace_id: z.guid().describe('Linked trace id.'),
    linked_observation_id: z
      .string()
      .nullable()
      .describe('Linked observation id; null for a link to the whole trace.'),
    attributes: z.record(z.string(), z.string()).describe('Attributes given by the client.'),
  })
  .meta({ id: 'TraceLink' })

const replySchema = record('TraceLinkList', {
  links: z.array(linkSchema).describe('Links of the page, in order.'),
  ...pageFields,
})

function linkFrom(row: LinkRow, traceId: string): z.infer<typeof linkSchema> {
  return {
    link_id: row.link_id,
    direction: row.trace_id === traceId ? 'from' : 'to',
    trace_id: row.trace_id,
    observation_id: textOrNull(row.observation_id),
    time: isoFromNs(row.time),
    source: row.source,
    linked_trace_id: row.linked_trace_id,
    linked_observation_id: textOrNull(row.linked_observation_id),
    attributes: row.attributes,
  }
}
