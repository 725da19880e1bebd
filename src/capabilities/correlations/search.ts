import { hash } from 'node:crypto'
import { z } from 'zod'
import { cutPage, encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { isoFromNs } from '../../kernel/time.ts'
import { correlationTypePattern } from '../../model/ingest-records.ts'
import {
  checkWindow,
  cursorParameter,
  expected,
  instantParameter,
  limitParameter,
  orderParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record, windowSchema } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { CorrelationRow, CorrelationSearch } from '../storage/index.ts'
import { pageFields, readPosition } from '../traces/index.ts'
import { correlationFrom, correlationSchema, maxValueCharacters } from './correlation-record.ts'
import type { CorrelationDeps } from './correlations.ts'

/** GET /api/v2/observability/correlations/search: finds traces by an external id. */
export function searchCorrelations({
  records,
  clock,
}: Pick<CorrelationDeps, 'records' | 'clock'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/correlations/search',
    id: 'searchCorrelations',
    summary: 'Search correlations of a type by value or prefix',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    query: querySchema,
    reply: replySchema,
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { order, limit, cursor } = query
      const window = windowFrom(query, clock.now_ms())
      const search = searchFrom(query, window)
      const list = listName(query)
      const after = cursor === undefined ? {} : { after: readPosition(list, cursor, places) }
      const [rows, total] = await Promise.all([
        records.searchCorrelations(project_id, { ...search, ...after, order, limit: limit + 1 }),
        records.countCorrelations(project_id, { ...search, limit: totalExactMax + 1 }),
      ])
      const { items: page, last } = cutPage(rows, limit)
      const next = last && cursorAfter(list, last)
      return {
        window: { from: isoFromNs(window.from), to: isoFromNs(window.to) },
        correlations: page.map(correlationFrom),
        ...pageInfo(total, next ?? null),
      }
    },
  })
}

/** Names the list in cursors. Hashes the values, since they can be long. */
function listName({ type, value, prefix, order }: Query): string {
  const searched = JSON.stringify([type, value ?? null, prefix ?? null])
  return `correlations ${hash('sha256', searched, 'base64url')} ${order}`
}

const places = {
  time: 'time',
  trace_id: 'trace_id',
  observation_id: 'text',
  value_digest: 'text',
} as const

function cursorAfter(list: string, row: CorrelationRow): string {
  const { time, trace_id, observation_id, value_digest } = row
  return encodeCursor(list, [time.toString(), trace_id, observation_id, value_digest])
}

const querySchema = z.strictObject({
  type: z
    .string()
    .regex(correlationTypePattern, {
      error: expected('a lower-case name of at most 64 characters'),
    })
    .describe('Type of correlation, for example `order`.'),
  value: textParameter('Returns only correlations with exactly this value.', maxValueCharacters),
  prefix: textParameter(
    'Returns only correlations whose value begins with this text.',
    maxValueCharacters,
  ),
  from: instantParameter('Start of the window, inclusive. Default: 7 days before `to`.'),
  to: instantParameter('End of the window, exclusive. Default: in one minute.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

type Query = z.output<typeof querySchema>

const replySchema = record('CorrelationSearch', {
  window: windowSchema.describe('Window of the search.'),
  correlations: z.array(correlationSchema).describe('Correlations of the page, in order of time.'),
  ...pageFields,
})

const defaultWindowNs = 7n * 86_400_000_000_000n

/** Tolerated difference between the clocks of clients and servers. */
const clockSkewMs = 60_000

function windowFrom({ from, to }: Query, now_ms: number): { from: bigint; to: bigint } {
  const end = to ?? BigInt(now_ms + clockSkewMs) * 1_000_000n
  const begin = from ?? (end > defaultWindowNs ? end - defaultWindowNs : 0n)
  const window = { from: begin, to: end }
  checkWindow(window)
  return window
}

function searchFrom(query: Query, window: { from: bigint; to: bigint }): CorrelationSearch {
  const { type: correlation_type, value, prefix } = query
  if (value === undefined) return { correlation_type, prefix: prefix ?? '', ...window }
  if (prefix === undefined) return { correlation_type, value, ...window }
  throw problem('invalid_request', {
    detail: 'query.prefix: got value and prefix, expected one of them',
    faults: [{ pointer: 'query.prefix', detail: 'expected value or prefix, got both' }],
  })
}
