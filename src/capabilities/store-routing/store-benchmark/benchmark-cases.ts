import { createHash } from 'node:crypto'
import { sortedKeys } from '../../../kernel/canonical-json.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import type { RecordedQuery } from '../route-stats-store.ts'

/** A query that a benchmark runs on each store. */
export type BenchmarkCase = {
  name: string
  origin: 'suite' | 'recorded'
  kind: 'query' | 'aggregate'
  body: Record<string, unknown>
}

/** Windows end a minute ago: the stores may still receive rows of the last minute. */
const settled_ns = 60_000_000_000n

const ns_per_ms = 1_000_000n

/** A trace that the suite looks up. */
export type Sample = { trace_id: string; task_id: string | null }

/** Returns the suite of every benchmark: each class of queries, over the last hours. */
export function suiteCases(
  now_ms: number,
  { hours, sample }: { hours: number; sample: Sample | undefined },
): BenchmarkCase[] {
  const to = BigInt(now_ms) * ns_per_ms - settled_ns
  const window = { from: isoFromNs(to - BigInt(hours) * 3_600_000_000_000n), to: isoFromNs(to) }
  const page = (name: string, body: object): BenchmarkCase => ({
    name,
    origin: 'suite',
    kind: 'query',
    body: { entity: 'observations', window, ...body },
  })
  const sums = (name: string, body: object): BenchmarkCase => ({
    ...page(name, { where: { field: 'is_call', op: 'eq', value: true }, ...body }),
    kind: 'aggregate',
  })
  const lookUps = sample === undefined ? [] : lookUpCases(page, sample)
  return [
    ...lookUps,
    page('latest 50', { limit: 50 }),
    page('latest 50 with an error', {
      where: { field: 'status', op: 'eq', value: 'error' },
      limit: 50,
    }),
    page('slowest 50 traces', {
      entity: 'traces',
      order_by: [{ field: 'duration_ms', direction: 'desc' }],
      limit: 50,
    }),
    sums('hourly p95 by model', {
      measures: [{ fn: 'p95', field: 'duration_ms', as: 'p95_ms' }],
      group_by: ['model', { time_bucket: '1h' }],
      limit: 1000,
    }),
    sums('tokens and cost by model', {
      measures: [
        { fn: 'count', as: 'calls' },
        { fn: 'sum', field: 'total_tokens', as: 'tokens' },
        { fn: 'sum', field: 'cost_usd', as: 'cost' },
      ],
      group_by: ['model'],
      limit: 1000,
    }),
    sums('calls and errors', {
      measures: [
        { fn: 'count', as: 'calls' },
        { fn: 'error_rate', as: 'errors' },
      ],
    }),
  ]
}

function lookUpCases(
  page: (name: string, body: object) => BenchmarkCase,
  { trace_id, task_id }: Sample,
): BenchmarkCase[] {
  const order_by = [{ field: 'start_time', direction: 'asc' }]
  const eq = (field: string, value: string) => ({ field, op: 'eq', value })
  const trace = page('a trace', { where: eq('trace_id', trace_id), order_by, limit: 1000 })
  if (task_id === null) return [trace]
  return [trace, page('a task', { where: eq('task_id', task_id), order_by, limit: 100 })]
}

/** Returns a recorded query with its window moved: as long before now as it was before its run. */
export function recordedCase(
  { kind, body, hash, last_at }: RecordedQuery,
  now_ms: number,
): BenchmarkCase | undefined {
  const window = body['window'] as { from?: unknown; to?: unknown } | undefined
  const [from, to] = [nsFromIso(String(window?.from)), nsFromIso(String(window?.to))]
  if (from === undefined || to === undefined) return undefined
  const ago = BigInt(Date.parse(last_at)) * ns_per_ms - to
  const end = BigInt(now_ms) * ns_per_ms - (ago > settled_ns ? ago : settled_ns)
  const shifted = { from: isoFromNs(end - (to - from)), to: isoFromNs(end) }
  return { name: hash, origin: 'recorded', kind, body: { ...body, window: shifted } }
}

/**
 * Returns a checksum that is equal for equal rows of both stores. It sorts keys and rounds floats
 * to nine digits, since the order of additions may change the last ones.
 */
export function checksumOf(rows: readonly object[]): string {
  return createHash('sha256')
    .update(JSON.stringify(rows, canonical))
    .digest('base64url')
    .slice(0, 22)
}

function canonical(key: string, value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9))
  return sortedKeys(key, value)
}
