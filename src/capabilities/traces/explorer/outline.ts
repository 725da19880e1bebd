import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { dollarsSchema } from '../../../model/named-schemas.ts'
import { observationTypes, statuses } from '../../../model/observation.ts'
import type { Finding } from '../../detection/index.ts'
import { findCriticalPath, longestRoot } from '../critical-path/find-path.ts'
import { maxTraceRows } from '../read-trace-rows.ts'
import { spanRoots } from '../tree/build-tree.ts'
import { marks, type TraceTree, type TreeNode } from '../tree/contract.ts'
import { isoAt } from '../tree/times.ts'
import { findingFields, locateFindings } from './node-findings.ts'
import { toLabels } from './node-reply.ts'

const count = z.int().nonnegative()

/** A column: one value for each node. */
function column<Values extends z.ZodType>(values: Values, description: string) {
  return z.array(values).describe(description)
}

const types = [...observationTypes, 'synthetic'] as const

/** `counted_with` of an observation that counts itself, and of one that another tree counts. */
const countedHere = -1
const countedElsewhere = -2

/**
 * The fields of an outline. Item `i` of each column belongs to node `i`; nodes come depth first, so
 * that parents come before children and each node is followed by its descendants.
 */
export const outlineFields = {
  total: count.describe(
    `Observations of the tree. Above ${maxTraceRows}, \`truncated\` is true and the outline has the earliest.`,
  ),
  origin_time: z.iso.datetime({ offset: false }).describe('Instant from which `start_us` counts.'),
  ids: column(
    z.string(),
    'Observation id, which is `node_id` of the tree. Nodes come depth first: parents before children.',
  ),
  parent: column(z.int().min(-1), 'Index of the parent; -1 for roots.'),
  start_us: column(z.int(), 'Start in microseconds after `origin_time`, corrected as in the tree.'),
  dur_us: column(count, 'Duration in microseconds.'),
  name: column(count, 'Index in `names`.'),
  names: z.array(z.string()),
  type: column(count, 'Index in `types`.'),
  types: z.array(z.enum(types)),
  status: column(z.int().min(-1), 'Index in `statuses`; -1 for a synthetic root.'),
  statuses: z.array(z.enum(statuses)),
  trace: column(count, 'Index in `traces`.')
    .nullable()
    .describe('Index in `traces`; null for the whole column if `traces` has at most one.'),
  traces: z.array(z.guid()).describe('W3C trace ids, as UUIDs.'),
  on_path: column(
    z.int().min(0).max(1),
    '1 for a node on the critical path: of the longest root of a trace, or of all roots of a task.',
  ),
  mark: column(count, 'Anomalies: bit `i` stands for item `i` of `marks`; 0 without any.'),
  marks: z.array(z.enum(marks)),
  tokens: column(
    count.nullable(),
    'Tokens of the node and its descendants, each call counted once; null if unknown.',
  ),
  cost_usd: column(
    dollarsSchema.nullable(),
    'Cost of the node and its descendants, each call counted once; null if unknown.',
  ),
  counted_with: column(
    z.int().min(countedElsewhere),
    `Index of the node that counts the call of this one; ${countedElsewhere} if that is not in the outline; ${countedHere} for all other nodes.`,
  ),
  ...findingFields,
}

export type Outline = Omit<z.infer<z.ZodObject<typeof outlineFields>>, 'total'>

/**
 * Converts a tree to columns; pure. `whole`: the critical path is that of all roots together, not
 * of the longest.
 */
export function toOutline(
  tree: TraceTree,
  { findings, whole }: { findings: readonly Finding[]; whole: boolean },
): Outline {
  const { nodes, origin_ns } = tree
  const [names, traces] = [openDictionary(), openDictionary()]
  const trace = nodes.map((node) => traces.indexOf(node.trace_id))
  const index = openNodeIndex(nodes)
  const known = findKnown(nodes)
  return {
    origin_time: isoAt(origin_ns, 0),
    ids: nodes.map(({ id }) => id),
    parent: nodes.map(({ parent }) => parent?.position ?? -1),
    start_us: nodes.map(({ start }) => usFrom(start)),
    dur_us: nodes.map(({ start, end }) => usFrom(end - start)),
    name: nodes.map((node) => names.indexOf(toLabels(node).name)),
    names: names.texts,
    type: nodes.map((node) => types.indexOf(toLabels(node).type)),
    types: [...types],
    status: nodes.map(({ row }) => (row === null ? -1 : statuses.indexOf(row.status))),
    statuses: [...statuses],
    trace: traces.texts.length > 1 ? trace : null,
    traces: traces.texts,
    on_path: markPath(tree, whole),
    mark: nodes.map(toBits),
    marks: [...marks],
    tokens: nodes.map(({ rollup }, at) => (known.tokens[at] ? rollup.total_tokens : null)),
    cost_usd: nodes.map(({ rollup }, at) => (known.cost[at] ? shortDollars(rollup) : null)),
    counted_with: nodes.map(index.countedWith),
    ...locateFindings(findings, index.inTrace),
  }
}

/** Numbers texts in the order of their first use. */
function openDictionary() {
  const texts: string[] = []
  const indexes = new Map<string, number>()
  const indexOf = (text: string) => {
    const known = indexes.get(text)
    if (known !== undefined) return known
    indexes.set(text, texts.length)
    return texts.push(text) - 1
  }
  return { texts, indexOf }
}

/** Converts nanoseconds to whole microseconds; never to -0. */
function usFrom(ns: number): number {
  return Math.round(ns / 1000) + 0
}

function toBits({ marks: given }: TreeNode): number {
  let bits = 0
  for (const mark of given) bits |= 1 << marks.indexOf(mark)
  return bits
}

function shortDollars({ nano_dollars }: TreeNode['rollup']): string {
  return nano_dollars === 0n ? '0' : dollarsFrom(nano_dollars)
}

/** Finds the nodes of which, or of a descendant of which, tokens and cost are known. */
function findKnown(nodes: readonly TreeNode[]) {
  const [tokens, cost] = [new Uint8Array(nodes.length), new Uint8Array(nodes.length)]
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at]
    if (node === undefined) continue
    if (node.usage !== 'none') tokens[at] = 1
    if (node.cost !== 'none') cost[at] = 1
    if (node.parent === null) continue
    if (tokens[at]) tokens[node.parent.position] = 1
    if (cost[at]) cost[node.parent.position] = 1
  }
  return { tokens, cost }
}

function markPath(tree: TraceTree, whole: boolean): number[] {
  const onPath = new Array<number>(tree.nodes.length).fill(0)
  const root = whole ? spanRoots(tree) : longestRoot(tree)
  if (root === undefined) return onPath
  for (const { node } of findCriticalPath(root).segments) {
    if (node === root && whole) continue
    onPath[node.position] = 1
  }
  return onPath
}

/** Indexes nodes by trace and observation id. Of a repeated id, the first node counts. */
function openNodeIndex(nodes: readonly TreeNode[]) {
  const traces = new Map<string, Map<string, number>>()
  for (const { row, trace_id, id, position } of nodes) {
    if (row === null) continue
    const ofTrace = traces.get(trace_id) ?? new Map<string, number>()
    traces.set(trace_id, ofTrace)
    if (!ofTrace.has(id)) ofTrace.set(id, position)
  }
  const inTrace = (trace_id: string, id: string) => traces.get(trace_id)?.get(id)
  return { inTrace, countedWith: openCountedWith(inTrace, [...traces.values()]) }
}

/**
 * Returns a function from a row to its value of `counted_with`. The row that counts can be in
 * another trace; an id of two other traces names neither.
 */
function openCountedWith(
  inTrace: (trace_id: string, id: string) => number | undefined,
  traces: readonly ReadonlyMap<string, number>[],
) {
  const anywhere = new Map<string, number>()
  for (const ofTrace of traces.length > 1 ? traces : []) {
    for (const [id, position] of ofTrace) {
      anywhere.set(id, anywhere.has(id) ? countedElsewhere : position)
    }
  }
  return ({ row }: TreeNode): number => {
    if (row === null || row.counted_with === '') return countedHere
    const { trace_id, counted_with: id } = row
    return inTrace(trace_id, id) ?? anywhere.get(id) ?? countedElsewhere
  }
}
