import { traceIdFrom } from '../../kernel/ids.ts'
import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { nsFromIso } from '../../model/list-query.ts'
import { aggregateSchema, answerAggregate, type RunDeps } from '../query/index.ts'
import { isoWindowOf } from '../traces/index.ts'
import type { ConversationRow } from './store.ts'

/** A trace of a conversation, with its start and its number of observations. */
export type TraceOfPage = { trace_id: string; task_id: string; start: string; observations: number }

/** The store that answered, and the reason when it was not the first choice. */
type Served = { served_by: 'clickhouse' | 'postgres'; fallback_reason: string | null }

/** A page of traces in the order of their start, and the number of all. */
export type PageOfTraces = Served & {
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
export function windowOf(
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
export async function pageOfTraces(
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
  asked: { project_id: string; conversation_id: string; window: { from: bigint; to: bigint } } & {
    signal: AbortSignal
  },
): Promise<{ traces: TraceOfPage[]; is_exact: boolean } & Served> {
  const { project_id, conversation_id, window, signal } = asked
  const aggregate = aggregateSchema.parse({
    ...{ entity: 'observations', window: isoWindowOf(window), allow_wide: true },
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
