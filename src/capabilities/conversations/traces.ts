import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { cutPage, decodeCursor, encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { isoFromNs } from '../../kernel/time.ts'
import {
  checkWindow,
  cursorParameter,
  instantParameter,
  limitParameter,
  orderParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { statuses, traceIdSchema } from '../../model/observation.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { TracePage, TraceSummary } from '../storage/index.ts'
import {
  callSumFields,
  callSumsFrom,
  instantSchema,
  type TaskDeps,
  taskUrl,
} from '../tasks/index.ts'
import { conversationNamed, conversationPath } from './conversations.ts'

/** GET /api/v1/conversations/{conversation_id}/traces: its traces, ordered by their start. */
export function listConversationTraces(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/traces',
    id: 'listConversationTraces',
    summary: 'Traces of a conversation, with their sums',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    query: querySchema,
    reply: replySchema,
    errors: ['conversation_not_found', 'invalid_cursor'],
    handle: async ({ params, query, caller: { project_id } }) => {
      checkWindow(query)
      const { conversation_id } = await conversationNamed(deps, project_id, params.conversation_id)
      const { order, limit, cursor, from, to } = query
      const list = `traces of ${conversation_id} ${order}`
      const window = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      const after = cursor === undefined ? {} : { after: positionFrom(list, cursor) }
      const [found, total] = await Promise.all([
        deps.store.conversationTraces(project_id, conversation_id, {
          ...window,
          ...after,
          order,
          limit: limit + 1,
        }),
        deps.store.countConversationTraces(project_id, conversation_id, {
          ...window,
          limit: totalExactMax + 1,
        }),
      ])
      const { items: page, last } = cutPage(found, limit)
      const next = last && encodeCursor(list, [last.start_time.toString(), last.trace_id])
      return { traces: page.map(traceFrom), ...pageInfo(total, next ?? null) }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter('Only traces that started at or after this instant.'),
  to: instantParameter('Only traces that started before this instant.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

const count = z.int().nonnegative()

const traceSchema = z
  .strictObject({
    trace_id: traceIdSchema.describe('The W3C trace id, as a UUID.'),
    name: z.string().describe('The name of its root, else of its first observation.'),
    status: z.enum(statuses).describe('`error` when any observation failed.'),
    started_at: instantSchema.describe('Start of its first observation.'),
    ended_at: instantSchema.describe('End of its last observation.'),
    duration_ms: z.number().nonnegative().describe('Time between the two, to the microsecond.'),
    task_id: z.string().describe('The task it is part of.'),
    task_url: z.string().describe('The path of its task.'),
    observations: count.describe('Observations of any type.'),
    ...callSumFields,
  })
  .meta({ id: 'TraceSummary' })

const replySchema = record('ConversationTraceList', {
  traces: z.array(traceSchema).describe('The page, in order.'),
  total: count.describe('Traces of the conversation in the window.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe('`false`: the number is larger than `total`. Left out when `total` is exact.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
})

function traceFrom(trace: TraceSummary): z.infer<typeof traceSchema> {
  const { start_time, end_time, task_id } = trace
  return {
    trace_id: trace.trace_id,
    name: trace.name,
    status: trace.status,
    started_at: isoFromNs(start_time),
    ended_at: isoFromNs(end_time),
    duration_ms: Number((end_time - start_time) / 1000n) / 1000,
    task_id,
    task_url: taskUrl(task_id),
    observations: trace.observations,
    ...callSumsFrom(trace),
  }
}

function positionFrom(list: string, cursor: string): NonNullable<TracePage['after']> {
  const [start, id] = decodeCursor(list, cursor, 2)
  const trace_id = typeof id === 'string' ? traceIdFrom(id) : undefined
  if (typeof start === 'string' && /^\d{1,19}$/.test(start) && trace_id !== undefined) {
    return { start_time: BigInt(start), trace_id }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected the next_cursor of an earlier page`,
  })
}
