import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import {
  checkWindow,
  cursorParameter,
  instantParameter,
  integerParameter,
  nsFromIso,
} from '../../model/list-query.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { aggregateSchema, answerAggregate, type RunDeps } from '../query/index.ts'
import { type TaskDeps, tasksOfConversation } from '../tasks/index.ts'
import { buildTree, isoWindowOf, readTraceRows } from '../traces/index.ts'
import { conversationFrom, conversationNamed, conversationPath } from './conversations.ts'
import type { ConversationRow } from './store.ts'
import { type TraceOfPage, toTasks, traceTreeSchema } from './trace-tree-shape.ts'

/** Most observations of all traces of a page; a page with larger traces has fewer of them. */
const maxPageObservations = 20_000

/** Most tasks whose records are shown, the earliest first. */
const tasks_max = 1000

/**
 * GET /api/v1/conversations/{conversation_id}/trace-tree: its tasks, their traces, and the traces'
 * observations, one page of traces at a time. An observation whose parent is in another trace of
 * the page is shown below that parent; parents that were recorded late are used like any other.
 */
export function getTraceTree(deps: TaskDeps & { queries: RunDeps }): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/trace-tree',
    id: 'getConversationTraceTree',
    summary: 'A conversation as a tree: tasks, traces, observations, with sums',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    query: querySchema,
    reply: traceTreeSchema,
    errors: [
      'conversation_not_found',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params, query, caller: { project_id }, signal }) => {
      const row = await conversationNamed(deps, project_id, params.conversation_id)
      const { conversation_id } = row
      const window = windowOf(row, query)
      checkWindow(window)
      const asked = { project_id, conversation_id, window, ...query, signal }
      const page = await pageOfTraces(deps.queries, { ...asked, rows_max: maxPageObservations })
      const trace_ids = page.traces.map(({ trace_id }) => trace_id)
      const reading = { project_id, window, choice: { trace_ids }, signal }
      const nothing = { rows: [], more: false, ...page }
      const [read, { tasks }] = await Promise.all([
        trace_ids.length === 0
          ? nothing
          : readTraceRows(deps.queries, { ...reading, rows_max: maxPageObservations }),
        tasksOfConversation(deps, project_id, conversation_id, tasks_max),
      ])
      const shape = { depth: query.depth, observations_max: query.observations }
      return {
        conversation: conversationFrom(row),
        tasks: toTasks(buildTree(read.rows), { ...page, ...shape, tasks }),
        total: page.total,
        ...(page.is_exact ? {} : { total_is_exact: false as const }),
        truncated: read.more,
        next_cursor: page.next_cursor,
        served_by: read.served_by,
        fallback_reason: read.fallback_reason,
      }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter('Only observations that started at or after this instant.'),
  to: instantParameter('Only observations that started before this instant.'),
  depth: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Levels of each trace that are shown, 1 to 100.',
  }),
  observations: integerParameter({
    minimum: 0,
    maximum: 200,
    default: 50,
    description: 'Observations of each trace that are shown, 0 to 200, those near its top first.',
  }),
  limit: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Traces of a page, 1 to 100.',
  }),
  cursor: cursorParameter,
})

/** The store that answered, and the reason when it was not the first choice. */
type Served = { served_by: 'clickhouse' | 'postgres'; fallback_reason: string | null }

/** A page of traces in the order of their start, and the number of all. */
type PageOfTraces = Served & {
  traces: TraceOfPage[]
  total: number
  /** False when the number is larger than `total`. */
  is_exact: boolean
  next_cursor: string | null
}

/** Most traces that can be paged through; later ones are left out. A trace counts once per task. */
const traces_max = 2_000
const day_ns = 86_400_000_000_000n

/** Returns the window in which a conversation's observations may start: its times ± one day. */
function windowOf(
  { started_at, last_activity_at }: ConversationRow,
  { from, to }: { from?: bigint | undefined; to?: bigint | undefined },
): { from: bigint; to: bigint } {
  const started = nsFromIso(started_at) ?? 0n
  const ended = nsFromIso(last_activity_at) ?? started
  return {
    from: from ?? (started > day_ns ? started - day_ns : 0n),
    to: to ?? ended + day_ns,
  }
}

/**
 * Returns a page of traces with at most `rows_max` observations together, but at least one trace.
 */
async function pageOfTraces(
  queries: RunDeps,
  asked: {
    project_id: string
    conversation_id: string
    window: { from: bigint; to: bigint }
    limit: number
    rows_max: number
    cursor?: string | undefined
    signal: AbortSignal
  },
): Promise<PageOfTraces> {
  const { conversation_id, cursor, limit, rows_max } = asked
  const list = `trace tree ${conversation_id}`
  const after = cursor === undefined ? undefined : positionIn(list, cursor)
  const { traces, ...answer } = await readTraces(queries, asked)
  const left = after === undefined ? traces : traces.filter((trace) => isBehind(trace, after))
  const page: TraceOfPage[] = []
  let observations = 0
  for (const trace of left.slice(0, limit)) {
    observations += trace.observations
    if (page.length > 0 && observations > rows_max) break
    page.push(trace)
  }
  const last = page.length < left.length ? page.at(-1) : undefined
  return {
    traces: page,
    ...answer,
    total: traces.length,
    next_cursor: last === undefined ? null : encodeCursor(list, [last.start, last.trace_id]),
  }
}

async function readTraces(
  queries: RunDeps,
  {
    project_id,
    conversation_id,
    window,
    signal,
  }: { project_id: string; conversation_id: string; window: { from: bigint; to: bigint } } & {
    signal: AbortSignal
  },
): Promise<{ traces: TraceOfPage[]; is_exact: boolean } & Served> {
  const aggregate = aggregateSchema.parse({
    entity: 'observations',
    window: isoWindowOf(window),
    allow_wide: true,
    where: { field: 'conversation_id', op: 'eq', value: conversation_id },
    measures: [
      { fn: 'count', as: 'observations' },
      { fn: 'min', field: 'start_time', as: 'first_start' },
    ],
    group_by: ['trace_id', 'task_id'],
    order_by: [{ field: 'first_start', direction: 'asc' }],
    limit: traces_max,
  })
  const answer = await answerAggregate(queries, { aggregate, project_id, signal })
  const { rows, truncated, served_by, fallback_reason } = answer
  const traces = [...Map.groupBy(rows, (row) => traceIdFrom(String(row['trace_id'])) ?? '')]
    .map(([trace_id, ofTrace]) => ({ trace_id, ...joinRows(ofTrace) }))
    .sort(byStart)
  return { traces, is_exact: !truncated, served_by, fallback_reason }
}

/** Joins the rows of one trace, earliest first: one row for each task of its observations. */
function joinRows(
  rows: readonly Readonly<Record<string, unknown>>[],
): Omit<TraceOfPage, 'trace_id'> {
  let observations = 0
  for (const row of rows) observations += Number(row['observations'])
  const named = rows.find((row) => typeof row['task_id'] === 'string')
  return {
    task_id: String(named?.['task_id'] ?? ''),
    start: String(rows[0]?.['first_start']),
    observations,
  }
}

type Position = Pick<TraceOfPage, 'start' | 'trace_id'>

function byStart(a: Position, b: Position): number {
  const [one, other] = [nsFromIso(a.start) ?? 0n, nsFromIso(b.start) ?? 0n]
  if (one !== other) return one < other ? -1 : 1
  return a.trace_id < b.trace_id ? -1 : 1
}

function isBehind(trace: Position, position: Position): boolean {
  return trace.trace_id !== position.trace_id && byStart(trace, position) > 0
}

function positionIn(list: string, cursor: string): Position {
  const [start, id] = decodeCursor(list, cursor, 2)
  const trace_id = typeof id === 'string' ? traceIdFrom(id) : undefined
  if (typeof start === 'string' && nsFromIso(start) !== undefined && trace_id !== undefined) {
    return { start, trace_id }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected the next_cursor of an earlier page`,
  })
}
