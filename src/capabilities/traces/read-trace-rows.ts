import { shownDollars } from '../../kernel/dollars.ts'
import { isoFromNs } from '../../kernel/time.ts'
import {
  aggregateSchema,
  answerAggregate,
  type RecordsRead,
  type RunDeps,
  readRecords,
} from '../query/index.ts'
import type { TimeWindow } from '../storage/index.ts'
import { type TraceRow, tokenBuckets } from './tree/contract.ts'

/** Maximum observations of one tree; the earliest are kept. */
export const maxTraceRows = 100_000

/** Chooses the observations of traces, or those of a task, which can be in several traces. */
export type RowChoice = { trace_ids: readonly string[] } | { task_id: string }

/** A request for observations; `window` bounds their starts. */
type TraceRowsRequest = {
  project_id: string
  choice: RowChoice
  window: TimeWindow
  rows_max: number
  signal: AbortSignal
}

/** Rows and the store that answered. `more`: the choice has further rows. */
export type TraceRowsResult = Pick<
  RecordsRead,
  'served_by' | 'fallback_reason' | 'stats' | 'more'
> & { rows: TraceRow[] }

/**
 * Reads the fields that a tree needs of each observation, without content. Rejects with
 * `store_unavailable`, `query_too_expensive` and `rate_limited`.
 */
export async function readTraceRows(
  queries: RunDeps,
  { project_id, choice, window, rows_max, signal }: TraceRowsRequest,
): Promise<TraceRowsResult> {
  const only = findOnlyTrace(choice)
  const read = await readRecords(queries, {
    project_id,
    rows_max,
    signal,
    query_class: 'explorer',
    body: {
      entity: 'observations',
      window: isoWindowOf(window),
      where: filterFrom(choice),
      // Rows of a single trace need no trace id.
      select: only === undefined ? ['trace_id', ...fields] : [...fields],
      order_by: [{ field: 'start_time', direction: 'asc' }],
    },
  })
  const { served_by, fallback_reason, stats, more } = read
  return { served_by, fallback_reason, stats, more, rows: toTraceRows(read, only) }
}

/** Counts the observations of a choice in a window. Rejects like `readTraceRows`. */
export async function countTraceRows(
  queries: RunDeps,
  { project_id, choice, window, signal }: Omit<TraceRowsRequest, 'rows_max'>,
): Promise<number> {
  const aggregate = aggregateSchema.parse({
    entity: 'observations',
    window: isoWindowOf(window),
    allow_wide: true,
    limit: 1,
    where: filterFrom(choice),
    measures: [{ fn: 'count', as: 'observations' }],
  })
  const { rows } = await answerAggregate(queries, { aggregate, project_id, signal })
  return Number(rows[0]?.['observations'] ?? 0)
}

/** Returns queries that run on one store, such as the one that returned other rows of a reply. */
export function onStore(queries: RunDeps, store: TraceRowsResult['served_by']): RunDeps {
  const choice = { candidates: [], order: [store], fallback: false }
  return { ...queries, chooseStore: async () => choice }
}

/** Returns the query filter of a choice. */
export function filterFrom(choice: RowChoice) {
  if ('task_id' in choice) return { field: 'task_id', op: 'eq', value: choice.task_id }
  const only = findOnlyTrace(choice)
  return only === undefined
    ? { field: 'trace_id', op: 'in', value: choice.trace_ids }
    : { field: 'trace_id', op: 'eq', value: only }
}

function findOnlyTrace(choice: RowChoice): string | undefined {
  return 'trace_ids' in choice && choice.trace_ids.length === 1 ? choice.trace_ids[0] : undefined
}

/** Returns a window as queries take it. Open sides extend to the bounds of instants. */
export function isoWindowOf({ from, to }: TimeWindow): { from: string; to: string } {
  return {
    from: isoFromNs(from ?? 0n),
    to: to === undefined ? '2261-12-31T23:59:59.999999999Z' : isoFromNs(to),
  }
}

const fields = [
  'observation_id',
  'parent_observation_id',
  'type',
  'name',
  'status',
  'source',
  'service_name',
  'span_kind',
  'task_id',
  'task_name',
  'start_time',
  'end_time',
  'cost_usd',
  'price_partial',
  'counted_with',
  ...tokenBuckets,
] as const

/** Converts rows. Object literals with all fields are fast, which matters for large traces. */
function toTraceRows({ rows, alias }: RecordsRead, trace_id: string | undefined): TraceRow[] {
  const column = (name: string) => alias[name] ?? name
  const at = Object.fromEntries(fields.map((name) => [name, column(name)])) as Columns
  const ofTrace = column('trace_id')
  return rows.map((row) => {
    const dollars = row[at.cost_usd] ?? null
    return {
      trace_id: trace_id ?? (row[ofTrace] as string),
      observation_id: row[at.observation_id] as string,
      parent_observation_id: row[at.parent_observation_id] as string,
      type: row[at.type] as TraceRow['type'],
      name: row[at.name] as string,
      status: row[at.status] as TraceRow['status'],
      source: row[at.source] as TraceRow['source'],
      service_name: row[at.service_name] as string,
      span_kind: row[at.span_kind] as TraceRow['span_kind'],
      task_id: row[at.task_id] as string,
      task_name: row[at.task_name] as string,
      input_uncached_tokens: numberOrNull(row[at.input_uncached_tokens]),
      cache_read_tokens: numberOrNull(row[at.cache_read_tokens]),
      cache_write_tokens: numberOrNull(row[at.cache_write_tokens]),
      output_visible_tokens: numberOrNull(row[at.output_visible_tokens]),
      reasoning_tokens: numberOrNull(row[at.reasoning_tokens]),
      start_time: BigInt(String(row[at.start_time])),
      end_time: BigInt(String(row[at.end_time])),
      // Stores format amounts differently.
      cost_usd: dollars === null ? null : shownDollars(String(dollars)),
      price_partial: (row[at.price_partial] ?? []) as string[],
      counted_with: (row[at.counted_with] ?? '') as string,
    }
  })
}

type Columns = Record<(typeof fields)[number], string>

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}
