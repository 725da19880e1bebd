import { z } from 'zod'
import { encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { cursorParameter, expected, limitParameter, textParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { CorrelationRow, TraceCorrelationFilter } from '../storage/index.ts'
import { checkTraceExists, pageFields, positionIn, tracePath } from '../traces/index.ts'
import type { CorrelationDeps } from './correlation-deps.ts'
import { correlationFrom, correlationSchema } from './correlation-record.ts'

/** GET /api/v2/observability/traces/{trace_id}/correlations: the names of a trace. */
export function listTraceCorrelations({ records }: Pick<CorrelationDeps, 'records'>): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/correlations',
    id: 'listTraceCorrelations',
    summary: 'Correlations of a trace, in order of time',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: querySchema,
    reply: replySchema,
    errors: ['trace_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      const { order, limit, cursor } = query
      const list = `correlations of ${trace_id} ${order}`
      const filter = filterFrom(query)
      const after = cursor === undefined ? {} : { after: positionIn(list, cursor, places) }
      const [found, total] = await Promise.all([
        records.traceCorrelations(project_id, trace_id, {
          ...filter,
          ...after,
          order,
          limit: limit + 1,
        }),
        records.countTraceCorrelations(project_id, trace_id, {
          ...filter,
          limit: totalExactMax + 1,
        }),
      ])
      if (found.length === 0) await checkTraceExists(records, project_id, trace_id)
      const page = found.slice(0, limit)
      const last = found.length > limit ? page.at(-1) : undefined
      const next = last && cursorAfter(list, last)
      return { correlations: page.map(correlationFrom), ...pageInfo(total, next ?? null) }
    },
  })
}

const places = {
  time: 'time',
  correlation_type: 'text',
  observation_id: 'text',
  value_digest: 'text',
} as const

function cursorAfter(list: string, row: CorrelationRow): string {
  const { time, correlation_type, observation_id, value_digest } = row
  return encodeCursor(list, [time.toString(), correlation_type, observation_id, value_digest])
}

const querySchema = z.strictObject({
  type: textParameter('Only correlations of this type.', 64),
  observation_id: textParameter('Only correlations of this observation.'),
  order: z
    .enum(['asc', 'desc'], { error: expected('asc or desc') })
    .default('asc')
    .describe('`asc`: earliest first, `desc`: latest first.'),
  limit: limitParameter,
  cursor: cursorParameter,
})

function filterFrom(query: z.output<typeof querySchema>): TraceCorrelationFilter {
  const { type, observation_id } = query
  return {
    ...(type !== undefined && { correlation_type: type }),
    ...(observation_id !== undefined && { observation_id }),
  }
}

const replySchema = record('TraceCorrelationList', {
  correlations: z.array(correlationSchema).describe('The page, in order.'),
  ...pageFields,
})
