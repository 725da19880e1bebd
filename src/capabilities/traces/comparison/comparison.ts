import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { cursorParameter, flagParameter, integerParameter } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { statuses } from '../../../model/observation.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { summariseTrace, summarySchema } from '../explorer/summary.ts'
import { type LoadedTree, loadTree, readFields, toReadFields, treeFields } from '../load-tree.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import type { TreeNode } from '../tree/contract.ts'
import { isoAt, msFrom } from '../tree/times.ts'
import {
  compareOperations,
  comparePair,
  compareTrees,
  type OperationSums,
  type Pair,
} from './compare-trees.ts'

/** Maximum operations returned: those whose self times differ most. */
const operations_max = 100

/**
 * GET /api/v2/observability/traces/{trace_id}/comparison: compares a trace with another, usually of
 * the same task name: their structure, times, tokens and costs.
 */
export function compareTraces(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/comparison',
    id: 'compareTraces',
    summary: 'Compare two traces: structure, times and costs',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: querySchema,
    reply: replySchema,
    errors: [
      'trace_not_found',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      const load = (id: string) => loadTree(deps, { project_id, trace_id: id, query, signal })
      const [left, right] = await Promise.all([load(trace_id), load(query.with)])
      const summaries = { left: summariseTrace(left.tree), right: summariseTrace(right.tree) }
      return {
        left: { trace_id, ...toReadFields(left), summary: summaries.left },
        right: { trace_id: query.with, ...toReadFields(right), summary: summaries.right },
        same_task_name:
          summaries.left.task_name !== null &&
          summaries.left.task_name === summaries.right.task_name,
        ...pagePairs({ left, right }, query, trace_id),
        operations: compareOperations(left.tree, right.tree)
          .slice(0, operations_max)
          .map(({ left: one, right: other, ...operation }) => ({
            ...operation,
            left: toSumsReply(one),
            right: toSumsReply(other),
          })),
      }
    },
  })
}

const querySchema = z.strictObject({
  with: tracePath.shape.trace_id.describe('Other trace; `added` nodes are only in this one.'),
  ...treeFields,
  changes: flagParameter('`true`: returns only pairs that were added, removed or changed.'),
  limit: integerParameter({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum pairs returned, 1–1,000.',
  }),
  cursor: cursorParameter,
})

type ComparisonQuery = z.output<typeof querySchema>

const count = z.int().nonnegative()

const sums = record('OperationSide', {
  observations: count,
  errors: count,
  duration_ms: z.number().nonnegative(),
  self_ms: z.number().nonnegative(),
  tokens: count,
  cost_usd: dollarsSchema,
})

const traceSide = record('ComparedTrace', {
  trace_id: z.guid(),
  ...readFields,
  summary: summarySchema,
})

const nodeSide = z
  .strictObject({
    node_id: z.string(),
    status: z.enum(statuses).nullable(),
    start_time: z.iso.datetime({ offset: false }),
    duration_ms: z.number().nonnegative(),
    self_ms: z.number().nonnegative(),
    tokens: z.int().nonnegative().describe('Tokens of the node and its descendants.'),
    cost_usd: dollarsSchema.describe('Cost of the node and its descendants.'),
    descendants: z.int().nonnegative(),
  })
  .meta({ id: 'ComparedNode' })
  .nullable()

/** A pair of matching nodes, or a node without a counterpart. */
const pairSchema = z
  .strictObject({
    state: z
      .enum(['matched', 'changed', 'added', 'removed'])
      .describe('`changed`: the status differs. `added`: only right. `removed`: only left.'),
    type: z.string(),
    name: z.string(),
    depth: z.int().nonnegative(),
    left: nodeSide,
    right: nodeSide,
    difference: z
      .strictObject({
        duration_ms: z.number(),
        self_ms: z.number(),
        tokens: z.int(),
        cost_usd: dollarsSchema,
      })
      .meta({ id: 'NodeDifference' })
      .nullable()
      .describe('Right minus left; null without a counterpart.'),
  })
  .meta({ id: 'ComparedPair' })

const replySchema = record('TraceComparison', {
  left: traceSide.describe('Trace of the URL.'),
  right: traceSide.describe('Other trace.'),
  same_task_name: z.boolean().describe('Whether both traces have the same task name.'),
  counts: z
    .strictObject({ matched: count, added: count, removed: count, changed: count })
    .meta({ id: 'ComparisonCounts' })
    .describe('Counts of all pairs. `changed`: matched pairs with a different status.'),
  pairs: z
    .array(pairSchema)
    .describe('Pairs, parents before children, in the order of the left trace.'),
  total: count.describe('Pairs that match `changes`.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  operations: z
    .array(
      record('ComparedOperation', { type: z.string(), name: z.string(), left: sums, right: sums }),
    )
    .describe('Sums by type and name, with the largest difference of self times first.'),
})

function pagePairs(
  { left, right }: { left: LoadedTree; right: LoadedTree },
  { with: other, changes, limit, cursor, clocks }: ComparisonQuery,
  trace_id: string,
) {
  const revisions = `${left.revision} ${right.revision}`
  const list = `comparison ${trace_id} ${other} ${changes === true} ${clocks} ${revisions}`
  const from = cursor === undefined ? 0 : readIndex(list, cursor)
  const all = compareTrees(left.tree, right.tree)
  const pairs = changes ? all.filter((pair) => comparePair(pair) !== 'matched') : all
  const page = pairs.slice(from, from + limit)
  const next = from + page.length
  return {
    counts: countPairs(all),
    pairs: page.map((pair) =>
      toPairReply(pair, { left: left.tree.origin_ns, right: right.tree.origin_ns }),
    ),
    total: pairs.length,
    next_cursor: next < pairs.length ? encodeCursor(list, [next]) : null,
  }
}

/** Reads a cursor. It is valid for one revision of both traces, since changes move pairs. */
function readIndex(list: string, cursor: string): number {
  const [index] = decodeCursor(list, cursor, 1)
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) return index
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of the current revision of both traces`,
  })
}

function countPairs(pairs: readonly Pair[]) {
  const counts = { matched: 0, added: 0, removed: 0, changed: 0 }
  for (const pair of pairs) {
    const state = comparePair(pair)
    counts[state] += 1
    if (state === 'changed') counts.matched += 1
  }
  return counts
}

function toSumsReply({ duration, self, nano_dollars, ...counts }: OperationSums) {
  return {
    ...counts,
    duration_ms: msFrom(duration),
    self_ms: msFrom(self),
    cost_usd: dollarsFrom(nano_dollars),
  }
}

/** Converts a pair to its reply. Each side's times count from its own origin. */
function toPairReply(
  pair: Pair,
  origins: { left: bigint; right: bigint },
): z.infer<typeof pairSchema> {
  const { left, right, depth } = pair
  const row = (left ?? right)?.row
  const operation = { type: row?.type ?? 'synthetic', name: row?.name ?? '' }
  const fields = { state: comparePair(pair), ...operation, depth }
  if (left === null || right === null) {
    return {
      ...fields,
      left: left && toSideReply(left, origins.left),
      right: right && toSideReply(right, origins.right),
      difference: null,
    }
  }
  return {
    ...fields,
    left: toSideReply(left, origins.left),
    right: toSideReply(right, origins.right),
    difference: {
      duration_ms: msFrom(right.end - right.start - (left.end - left.start)),
      self_ms: msFrom(right.self - left.self),
      tokens: right.rollup.total_tokens - left.rollup.total_tokens,
      cost_usd: dollarsFrom(right.rollup.nano_dollars - left.rollup.nano_dollars),
    },
  }
}

function toSideReply(node: TreeNode, origin_ns: bigint) {
  return {
    node_id: node.id,
    status: node.row?.status ?? null,
    start_time: isoAt(origin_ns, node.start),
    duration_ms: msFrom(node.end - node.start),
    self_ms: msFrom(node.self),
    tokens: node.rollup.total_tokens,
    cost_usd: dollarsFrom(node.rollup.nano_dollars),
    descendants: node.last - node.position,
  }
}
