import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { traceIdFrom } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { checkWindow } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import {
  aggregateSchema as aggregateBody,
  answerAggregate,
  type RunDeps,
} from '../../query/index.ts'
import { loadTree, readFields, toReadFields } from '../load-tree.ts'
import { isoWindowOf, maxTraceRows, readTraceRows } from '../read-trace-rows.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { buildTree } from '../tree/build-tree.ts'
import type { TraceRow, TraceTree } from '../tree/contract.ts'
import { msFrom } from '../tree/times.ts'
import { answerPath, chosenRoot } from './answer-path.ts'
import { type CriticalPathQuery, criticalPathQuery, type PathQuery } from './critical-path-query.ts'
import { findCriticalPath, longestRoot } from './find-path.ts'
import { pathFields } from './path-fields.ts'
import { nodesOnPath, type OperationOnPath, operationsOnPath } from './path-shares.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/critical-path: returns the critical path of a trace's
 * longest root, its cost, the slack of other nodes, and the savings of faster calls.
 */
export function getCriticalPath(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/critical-path',
    id: 'getCriticalPath',
    summary: 'Critical path of a trace: cost, slack and what-if',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: criticalPathQuery,
    reply: replySchema,
    errors: ['trace_not_found', ...pathErrors],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      checkWhatIf(query)
      // The window selects the aggregated traces, not the observations of this trace.
      const own = query.aggregate ? { ...query, from: undefined, to: undefined } : query
      const loaded = await loadTree(deps, { project_id, trace_id, query: own, signal })
      const context = { queries: deps.queries, project_id, signal }
      const aggregate = query.aggregate ? await aggregatePaths(loaded.tree, query, context) : null
      return {
        trace_id,
        ...toReadFields(loaded),
        ...answerPath(loaded, query, { of: trace_id, root: chosenRoot(loaded.tree, query.root) })
          .answer,
        aggregate,
      }
    },
  })
}

/** Errors of the path of a trace or task, beside that it is not found. */
export const pathErrors = [
  'observation_not_found',
  'invalid_cursor',
  'query_too_expensive',
  'rate_limited',
  'store_unavailable',
] as const

const count = z.int().nonnegative()

const share = z.number().min(0).max(1)

/** An aggregate of the paths of traces of one task name. */
const aggregateSchema = z
  .strictObject({
    task_name: z.string(),
    traces: count.describe('Traces aggregated: the latest of the window.'),
    truncated: z
      .boolean()
      .describe('Whether traces were left out because of too many observations.'),
    mean_duration_ms: z.number().nonnegative(),
    operations: z
      .array(
        record('AggregatedOperation', {
          type: z.string(),
          name: z.string(),
          traces: count.describe('Traces with the operation on their path.'),
          confidence: share.describe(
            'Lower bound (Wilson, 95 %) of the share of traces with the operation on their path.',
          ),
          share: share.describe('Share of the path, mean over all traces.'),
          share_low: share.describe('Lower bound of that mean, 95 %.'),
          share_high: share.describe('Upper bound of that mean, 95 %.'),
          mean_on_path_ms: z
            .number()
            .nonnegative()
            .describe('Time on the path, mean over all traces.'),
          tokens: count.describe('Tokens on all paths.'),
          cost_usd: dollarsSchema.describe('Cost on all paths.'),
        }),
      )
      .describe('Operations by type and name, the largest share first.'),
  })
  .meta({ id: 'AggregateOfPaths' })

const replySchema = record('CriticalPath', {
  trace_id: z.guid().describe('W3C trace id, as a UUID.'),
  ...readFields,
  ...pathFields,
  aggregate: aggregateSchema.nullable().describe('Aggregate over traces; null unless requested.'),
})

/** Throws `invalid_request` for two questions at once. */
export function checkWhatIf({ what_if, what_if_name }: PathQuery): void {
  if (what_if === undefined || what_if_name === undefined) return
  throw problem('invalid_request', {
    detail: 'query.what_if_name: expected either what_if or what_if_name',
    faults: [{ pointer: 'query.what_if_name', detail: 'expected either what_if or what_if_name' }],
  })
}

type Aggregate = z.infer<typeof aggregateSchema>

type AggregateContext = { queries: RunDeps; project_id: string; signal: AbortSignal }

const week_ns = 604_800_000_000_000n

/** Aggregates the latest traces of a trace's task name; null if it has no task name. */
async function aggregatePaths(
  tree: TraceTree,
  query: CriticalPathQuery,
  context: AggregateContext,
): Promise<Aggregate | null> {
  const task_name = tree.nodes.find(({ row }) => row?.task_name)?.row?.task_name
  if (task_name === undefined) return null
  const { trace_ids, truncated, window } = await findLatestTraces(
    task_name,
    { tree, query },
    context,
  )
  const { rows } = await readTraceRows(context.queries, {
    ...context,
    choice: { trace_ids },
    window,
    rows_max: maxTraceRows,
  })
  const paths = findPaths(rows, query.clocks === 'recorded')
  return {
    task_name,
    traces: paths.length,
    truncated,
    mean_duration_ms: msFrom(sum(paths.map(({ duration }) => duration)) / (paths.length || 1)),
    operations: aggregateOperations(paths).slice(0, query.limit),
  }
}

/** Returns as many of the latest traces as can be read, by their total of observations. */
async function findLatestTraces(
  task_name: string,
  { tree, query }: { tree: TraceTree; query: CriticalPathQuery },
  { queries, ...caller }: AggregateContext,
) {
  const { origin_ns } = tree
  const from = query.from ?? (origin_ns > week_ns ? origin_ns - week_ns : 0n)
  const window = { from, to: query.to ?? origin_ns + week_ns }
  checkWindow(window)
  const aggregate = aggregateBody.parse({
    entity: 'observations',
    window: isoWindowOf(window),
    allow_wide: true,
    where: { field: 'task_name', op: 'eq', value: task_name },
    measures: [
      { fn: 'count', as: 'observations' },
      { fn: 'max', field: 'start_time', as: 'last_start' },
    ],
    group_by: ['trace_id'],
    order_by: [{ field: 'last_start', direction: 'desc' }],
    limit: query.traces,
  })
  const { rows } = await answerAggregate(queries, { aggregate, ...caller })
  const trace_ids: string[] = []
  let observations = 0
  for (const row of rows) {
    observations += Number(row['observations'])
    if (observations > maxTraceRows) break
    trace_ids.push(traceIdFrom(String(row['trace_id'])) ?? '')
  }
  return { trace_ids, truncated: trace_ids.length < rows.length, window }
}

type PathOfTrace = { duration: number; operations: readonly OperationOnPath[] }

function findPaths(rows: readonly TraceRow[], keep_clocks: boolean): PathOfTrace[] {
  const byTrace = Map.groupBy(rows, ({ trace_id }) => trace_id)
  return [...byTrace.values()].flatMap((ofTrace) => {
    const root = longestRoot(buildTree(ofTrace, { keep_clocks }))
    if (root === undefined) return []
    const operations = operationsOnPath(nodesOnPath(findCriticalPath(root)))
    return [{ duration: root.end - root.start, operations }]
  })
}

function aggregateOperations(paths: readonly PathOfTrace[]): Aggregate['operations'] {
  const found = new Map<string, { parts: (OperationOnPath & { share: number })[] }>()
  for (const { duration, operations } of paths) {
    for (const each of operations) {
      const key = `${each.type} ${each.name}`
      const known = found.get(key) ?? { parts: [] }
      known.parts.push({ ...each, share: duration === 0 ? 0 : each.on_path / duration })
      found.set(key, known)
    }
  }
  return [...found.values()]
    .map(({ parts }) => toOperationReply(parts, paths.length))
    .sort((a, b) => b.share - a.share || b.traces - a.traces)
}

function toOperationReply(
  parts: readonly (OperationOnPath & { share: number })[],
  traces: number,
): Aggregate['operations'][number] {
  const absent = new Array<number>(traces - parts.length).fill(0)
  const { mean, low, high } = meanWithBounds([...parts.map((part) => part.share), ...absent])
  return {
    type: parts[0]?.type ?? '',
    name: parts[0]?.name ?? '',
    traces: parts.length,
    confidence: wilsonLowerBound(parts.length, traces),
    share: mean,
    share_low: low,
    share_high: high,
    mean_on_path_ms: msFrom(sum(parts.map(({ on_path }) => on_path)) / traces),
    tokens: sum(parts.map(({ tokens }) => tokens)),
    cost_usd: dollarsFrom(parts.reduce((all, { nano_dollars }) => all + nano_dollars, 0n)),
  }
}

function sum(values: readonly number[]): number {
  let all = 0
  for (const value of values) all += value
  return all
}

/** The 97.5 % quantile of the normal distribution, for 95 % bounds. */
const z95 = 1.959964

/** Returns the lower bound of a rate, by Wilson's score interval at 95 %; 0 without cases. */
function wilsonLowerBound(hits: number, of: number): number {
  if (of === 0) return 0
  const rate = hits / of
  const square = z95 * z95
  const centre = rate + square / (2 * of)
  const spread = z95 * Math.sqrt((rate * (1 - rate)) / of + square / (4 * of * of))
  return clamp((centre - spread) / (1 + square / of))
}

/**
 * Returns the mean of shares and its 95 % bounds by the normal distribution; 0 to 1 for one value.
 */
function meanWithBounds(shares: readonly number[]): {
  mean: number
  low: number
  high: number
} {
  const of = shares.length
  if (of === 0) return { mean: 0, low: 0, high: 1 }
  const mean = clamp(shares.reduce((all, share) => all + share, 0) / of)
  if (of === 1) return { mean, low: 0, high: 1 }
  const squares = shares.reduce((all, share) => all + (share - mean) ** 2, 0)
  const half = z95 * Math.sqrt(squares / (of - 1) / of)
  return { mean, low: clamp(mean - half), high: clamp(mean + half) }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}
