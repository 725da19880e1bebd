import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { traceIdFrom } from '../../../kernel/ids.ts'
import { checkWindow } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import {
  aggregateSchema as aggregateBody,
  answerAggregate,
  type RunDeps,
} from '../../query/index.ts'
import { isoWindowOf, readTraceRows, traceRows_max } from '../read-trace-rows.ts'
import { buildTree } from '../tree/build-tree.ts'
import type { TraceRow, TraceTree } from '../tree/contract.ts'
import { msFrom } from '../tree/shown-times.ts'
import type { CriticalPathQuery } from './critical-path-query.ts'
import { criticalPathOf, longestRoot } from './find-path.ts'
import { nodesOnPath, type OperationOnPath, operationsOnPath } from './path-shares.ts'
import { meanWithBounds, wilsonLowerBound } from './statistics.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)

/** The paths of many traces of one task name. */
export const aggregateSchema = z
  .strictObject({
    task_name: z.string(),
    traces: count.describe('Traces that were looked at, the latest of the window.'),
    truncated: z.boolean().describe('Fewer than asked for: they would have too many observations.'),
    mean_duration_ms: z.number().nonnegative(),
    operations: z
      .array(
        record('AggregatedOperation', {
          type: z.string(),
          name: z.string(),
          traces: count.describe('On whose path it is.'),
          confidence: share.describe(
            'That it is on the path: the lower bound of that rate, Wilson, 95 %.',
          ),
          share: share.describe('Of the path, the mean over all traces.'),
          share_low: share.describe('Lower bound of that mean, 95 %.'),
          share_high: share.describe('Upper bound of that mean, 95 %.'),
          mean_on_path_ms: z.number().nonnegative().describe('Over all traces.'),
          tokens: count.describe('Used by it on all the paths.'),
          cost_usd: dollarsSchema.describe('On all the paths.'),
        }),
      )
      .describe('By type and name, the largest share first.'),
  })
  .meta({ id: 'AggregateOfPaths' })
type Aggregate = z.infer<typeof aggregateSchema>

type About = { queries: RunDeps; project_id: string; signal: AbortSignal }
const week_ns = 604_800_000_000_000n

/** Tells the paths of the latest traces of a trace's task name; null when it has no such name. */
export async function aggregateOf(
  tree: TraceTree,
  query: CriticalPathQuery,
  about: About,
): Promise<Aggregate | null> {
  const task_name = tree.nodes.find(({ row }) => row?.task_name)?.row?.task_name
  if (task_name === undefined) return null
  const { trace_ids, truncated, window } = await latestTraces(task_name, { tree, query }, about)
  const { rows } = await readTraceRows(about.queries, {
    ...about,
    ...{ trace_ids, window },
    rows_max: traceRows_max,
  })
  const paths = pathsOf(rows, query.clocks === 'recorded')
  return {
    task_name,
    traces: paths.length,
    truncated,
    mean_duration_ms: msFrom(sum(paths.map(({ duration }) => duration)) / (paths.length || 1)),
    operations: operationsOf(paths).slice(0, query.limit),
  }
}

/** As many of the latest traces as together have no more observations than can be read. */
async function latestTraces(
  task_name: string,
  { tree, query }: { tree: TraceTree; query: CriticalPathQuery },
  { queries, ...caller }: About,
) {
  const { origin_ns } = tree
  const from = query.from ?? (origin_ns > week_ns ? origin_ns - week_ns : 0n)
  const window = { from, to: query.to ?? origin_ns + week_ns }
  checkWindow(window)
  const aggregate = aggregateBody.parse({
    ...{ entity: 'observations', window: isoWindowOf(window), allow_wide: true },
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
    if (observations > traceRows_max) break
    trace_ids.push(traceIdFrom(String(row['trace_id'])) ?? '')
  }
  return { trace_ids, truncated: trace_ids.length < rows.length, window }
}

type PathOfTrace = { duration: number; operations: readonly OperationOnPath[] }

function pathsOf(rows: readonly TraceRow[], keep_clocks: boolean): PathOfTrace[] {
  const byTrace = Map.groupBy(rows, ({ trace_id }) => trace_id)
  return [...byTrace.values()].flatMap((ofTrace) => {
    const root = longestRoot(buildTree(ofTrace, { keep_clocks }))
    if (root === undefined) return []
    const operations = operationsOnPath(nodesOnPath(criticalPathOf(root)))
    return [{ duration: root.end - root.start, operations }]
  })
}

function operationsOf(paths: readonly PathOfTrace[]): Aggregate['operations'] {
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
    .map(({ parts }) => shownOperation(parts, paths.length))
    .sort((a, b) => b.share - a.share || b.traces - a.traces)
}

function shownOperation(
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
    ...{ share: mean, share_low: low, share_high: high },
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
