import { hash } from 'node:crypto'
import { z } from 'zod'
import { encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
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
import { pageFields, positionIn } from '../traces/index.ts'
import type { CorrelationDeps } from './correlation-deps.ts'
import { correlationFrom, correlationSchema, valueCharacters_max } from './correlation-record.ts'

/** GET /api/v2/observability/correlations/search: which traces go by a name. */
export function searchCorrelations({
  records,
  clock,
}: Pick<CorrelationDeps, 'records' | 'clock'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/correlations/search',
    id: 'searchCorrelations',
    summary: 'Correlations of a type, by value or prefix, in a window',
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
      const after = cursor === undefined ? {} : { after: positionIn(list, cursor, places) }
      const [found, total] = await Promise.all([
        records.searchCorrelations(project_id, { ...search, ...after, order, limit: limit + 1 }),
        records.countCorrelations(project_id, { ...search, limit: totalExactMax + 1 }),
      ])
      const page = found.slice(0, limit)
      const last = found.length > limit ? page.at(-1) : undefined
      const next = last && cursorAfter(list, last)
      return {
        window: { from: isoFromNs(window.from), to: isoFromNs(window.to) },
        correlations: page.map(correlationFrom),
        ...pageInfo(total, next ?? null),
      }
    },
  })
}

/** A cursor must not be as long as the value that is searched for can be. */
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
    .describe('The type of correlation, for instance `order`.'),
  value: textParameter('Only this value, exactly.', valueCharacters_max),
  prefix: textParameter('Only values that begin with this text.', valueCharacters_max),
  from: instantParameter('Only those whose time is at or after this; 7 days before `to`.'),
  to: instantParameter('Only those whose time is before this; in a minute when left out.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})
type Query = z.output<typeof querySchema>

const replySchema = record('CorrelationSearch', {
  window: windowSchema.describe('The window that was searched.'),
  correlations: z.array(correlationSchema).describe('The page, in order of time.'),
  ...pageFields,
})

const defaultWindow_ns = 7n * 86_400_000_000_000n
/** Clocks of clients and servers differ by this much without anybody minding. */
const clockSkew_ms = 60_000

function windowFrom({ from, to }: Query, now_ms: number): { from: bigint; to: bigint } {
  const end = to ?? BigInt(now_ms + clockSkew_ms) * 1_000_000n
  const begin = from ?? (end > defaultWindow_ns ? end - defaultWindow_ns : 0n)
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
