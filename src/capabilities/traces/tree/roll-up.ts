import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { isModelCall } from '../../../model/observation.ts'
import { type RollUp, type TraceRow, type TreeNode, tokenBuckets } from './contract.ts'

/** Whether a node or its descendants report tokens, and a cost, which its parent may repeat. */
type Reported = { tokens: boolean; dollars: boolean }

/**
 * Sums each node with its descendants. Nodes come parents first, each at its position. Usage of an
 * agent, chain or span repeats that of its descendants and counts only if they report none. A call
 * that another row counts is not counted: `counted_with`, as in every other sum.
 */
export function rollUp(nodes: readonly TreeNode[]): void {
  const below = new Array<Reported | undefined>(nodes.length)
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at]
    if (node === undefined) continue
    const own = below[at] ?? nothing
    below[at] = undefined
    if (node.row !== null) addOwn(node, node.row, own)
    const { parent } = node
    if (parent === null) continue
    addTo(parent.rollup, node.rollup)
    const passed = passToParent(node.row, own)
    if (passed !== nothing) below[parent.position] = combine(passed, below[parent.position])
  }
}

const nothing: Reported = { tokens: false, dollars: false }

function addOwn(node: TreeNode, row: TraceRow, below: Reported): void {
  const { rollup } = node
  const isCall = isModelCall(row)
  const isMerged = isCall && row.counted_with !== ''
  node.usage = classifyShare(hasTokens(row), isCall ? isMerged : below.tokens)
  node.cost = classifyShare(row.cost_usd !== null, isCall ? isMerged : below.dollars)
  if (node.usage === 'aggregate' && !isMerged && totalOf(row) !== rollup.total_tokens) {
    node.marks.push('aggregate_differs')
  }
  rollup.observations += 1
  if (row.status === 'error') rollup.errors += 1
  if (row.status === 'cancelled') rollup.cancelled += 1
  if (node.usage === 'own') addTokens(rollup, row)
  if (node.cost === 'own') addCost(rollup, row)
  if (isMerged) rollup.merged_calls += 1
  else if (isCall) {
    rollup.calls += 1
    if (row.cost_usd === null) rollup.unpriced_calls += 1
  }
}

function addCost(rollup: RollUp, row: TraceRow): void {
  rollup.nano_dollars += nanoDollarsFrom(row.cost_usd ?? '0')
  if (row.price_partial.length > 0) rollup.partially_priced_calls += 1
}

function classifyShare(isReported: boolean, isRepeated: boolean | undefined): TreeNode['usage'] {
  if (!isReported) return 'none'
  return isRepeated ? 'aggregate' : 'own'
}

function hasTokens(row: TraceRow): boolean {
  return tokenBuckets.some((bucket) => row[bucket] !== null)
}

/** Sums the tokens of all buckets; unknown ones count as 0. */
export function totalOf(row: TraceRow): number {
  let total = 0
  for (const bucket of tokenBuckets) total += row[bucket] ?? 0
  return total
}

function addTokens(rollup: RollUp, row: TraceRow): void {
  for (const bucket of tokenBuckets) rollup[bucket] += row[bucket] ?? 0
  rollup.total_tokens += totalOf(row)
}

function passToParent(row: TraceRow | null, below: Reported): Reported {
  if (row === null) return below
  const own = { tokens: hasTokens(row), dollars: row.cost_usd !== null }
  return own.tokens || own.dollars ? combine(own, below) : below
}

function combine(a: Reported, b: Reported | undefined): Reported {
  if (b === undefined || (a.tokens && a.dollars)) return a
  return { tokens: a.tokens || b.tokens, dollars: a.dollars || b.dollars }
}

/** Returns sums of 0. */
export function emptyRollUp(): RollUp {
  return {
    observations: 0,
    calls: 0,
    merged_calls: 0,
    errors: 0,
    cancelled: 0,
    input_uncached_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_visible_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 0,
    nano_dollars: 0n,
    unpriced_calls: 0,
    partially_priced_calls: 0,
  }
}

const counts = [
  ...tokenBuckets,
  'observations',
  'calls',
  'merged_calls',
  'errors',
  'cancelled',
  'total_tokens',
  'unpriced_calls',
  'partially_priced_calls',
] as const

/** Adds sums to others. Written out for speed: it runs for each node of a tree. */
export function addTo(to: RollUp, from: RollUp): void {
  to.observations += from.observations
  to.calls += from.calls
  to.merged_calls += from.merged_calls
  to.errors += from.errors
  to.cancelled += from.cancelled
  to.input_uncached_tokens += from.input_uncached_tokens
  to.cache_read_tokens += from.cache_read_tokens
  to.cache_write_tokens += from.cache_write_tokens
  to.output_visible_tokens += from.output_visible_tokens
  to.reasoning_tokens += from.reasoning_tokens
  to.total_tokens += from.total_tokens
  to.unpriced_calls += from.unpriced_calls
  to.partially_priced_calls += from.partially_priced_calls
  if (from.nano_dollars !== 0n) to.nano_dollars += from.nano_dollars
}

/** Subtracts sums from others that include them. */
export function takeFrom(whole: RollUp, part: RollUp): void {
  for (const name of counts) whole[name] -= part[name]
  whole.nano_dollars -= part.nano_dollars
}
