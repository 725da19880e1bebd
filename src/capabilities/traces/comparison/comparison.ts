import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { cursorParameter, flagParameter, integerParameter } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { summaryOf, summarySchema } from '../explorer/trace-summary.ts'
import { type LoadedTree, loadTree, readFields, readOf, treeFields } from '../load-tree.ts'
import type { TraceDeps } from '../trace-deps.ts'
import { tracePath } from '../trace-path.ts'
import { msFrom } from '../tree/shown-times.ts'
import { compareOperations, type OperationSums } from './compare-operations.ts'
import { compareTrees, type Pair, stateOf } from './compare-trees.ts'
import { pairSchema, shownPair } from './shown-pair.ts'

/** Operations that are compared: those whose own times differ most. */
const operations_max = 100

/**
 * GET /api/v2/observability/traces/{trace_id}/comparison: what another trace, of the same task name as
 * a rule, did otherwise: what it did more and less, and how times, tokens and costs differ.
 */
export function compareTraces(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/comparison',
    id: 'compareTraces',
    summary: 'Two traces side by side: structure, times, costs',
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
      const summaries = { left: summaryOf(left.tree), right: summaryOf(right.tree) }
      return {
        left: { trace_id, ...readOf(left), summary: summaries.left },
        right: { trace_id: query.with, ...readOf(right), summary: summaries.right },
        same_task_name:
          summaries.left.task_name !== null &&
          summaries.left.task_name === summaries.right.task_name,
        ...pageOf({ left, right }, query, trace_id),
        operations: compareOperations(left.tree, right.tree)
          .slice(0, operations_max)
          .map(({ left: one, right: other, ...operation }) => ({
            ...operation,
            left: shownSums(one),
            right: shownSums(other),
          })),
      }
    },
  })
}

const querySchema = z.strictObject({
  with: tracePath.shape.trace_id.describe('The other trace: what is `added` is there only.'),
  ...treeFields,
  changes: flagParameter('`true`: only what was added, removed or ended otherwise.'),
  limit: integerParameter({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Pairs of a page, 1 to 1,000.',
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
const side = record('ComparedTrace', {
  trace_id: z.guid(),
  ...readFields,
  summary: summarySchema,
})

const replySchema = record('TraceComparison', {
  left: side.describe('The trace of the path.'),
  right: side.describe('The other one.'),
  same_task_name: z.boolean().describe('Both have one, and it is the same.'),
  counts: z
    .strictObject({ matched: count, added: count, removed: count, changed: count })
    .meta({ id: 'ComparisonCounts' })
    .describe('Of all pairs; `changed`: matched ones that ended otherwise.'),
  pairs: z.array(pairSchema).describe('Parents before their children, in the order of the left.'),
  total: count.describe('Pairs that `changes` lets through.'),
  next_cursor: z.string().nullable().describe('For further pairs; null when there are none.'),
  operations: z
    .array(
      record('ComparedOperation', { type: z.string(), name: z.string(), left: sums, right: sums }),
    )
    .describe('By type and name; where own times differ most comes first.'),
})

function pageOf(
  { left, right }: { left: LoadedTree; right: LoadedTree },
  { with: other, changes, limit, cursor, clocks }: ComparisonQuery,
  trace_id: string,
) {
  const revisions = `${left.revision} ${right.revision}`
  const list = `comparison ${trace_id} ${other} ${changes === true} ${clocks} ${revisions}`
  const from = cursor === undefined ? 0 : placeIn(list, cursor)
  const all = compareTrees(left.tree, right.tree)
  const pairs = changes ? all.filter((pair) => stateOf(pair) !== 'matched') : all
  const page = pairs.slice(from, from + limit)
  const next = from + page.length
  return {
    counts: countsOf(all),
    pairs: page.map((pair) =>
      shownPair(pair, { left: left.tree.origin_ns, right: right.tree.origin_ns }),
    ),
    total: pairs.length,
    next_cursor: next < pairs.length ? encodeCursor(list, [next]) : null,
  }
}

/** Pairs that have changed have other places, so a cursor is for one revision of both. */
function placeIn(list: string, cursor: string): number {
  const [place] = decodeCursor(list, cursor, 1)
  if (typeof place === 'number' && Number.isSafeInteger(place) && place >= 0) return place
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of these traces as they are`,
  })
}

function countsOf(pairs: readonly Pair[]) {
  const counts = { matched: 0, added: 0, removed: 0, changed: 0 }
  for (const pair of pairs) {
    const state = stateOf(pair)
    counts[state] += 1
    if (state === 'changed') counts.matched += 1
  }
  return counts
}

function shownSums({ duration, self, nano_dollars, ...counts }: OperationSums) {
  return {
    ...counts,
    duration_ms: msFrom(duration),
    self_ms: msFrom(self),
    cost_usd: dollarsFrom(nano_dollars),
  }
}
