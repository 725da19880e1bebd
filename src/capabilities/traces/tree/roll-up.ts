import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { type RollUp, type TraceRow, type TreeNode, tokenBuckets } from './contract.ts'
import { addTo } from './sums.ts'

/** What a node passes on of itself and what is below it. */
type Below = {
  /** Something, of whatever type, says how many tokens, or how much money. */
  tokens: boolean
  dollars: boolean
  /** Calls that no tool and no agent lies between: a call above them is the same call. */
  calls: ReadonlyMap<string, CallBelow>
}
type CallBelow = { tokens: boolean; dollars: boolean }

/**
 * Sums up each node with all below it. Nodes come parents first, each at its position. What an agent, a chain or a span
 * says it used repeats what those below it say, and counts only where they say nothing. A call right
 * above one of the same type is that call as another instrument saw it.
 */
export function rollUp(nodes: readonly TreeNode[]): void {
  const below = new Array<Below | undefined>(nodes.length)
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at]
    if (node === undefined) continue
    const found = below[at] ?? nothing
    below[at] = undefined
    if (node.row !== null) addOwn(node, node.row, found)
    const { parent } = node
    if (parent === null) continue
    addTo(parent.rollup, node.rollup)
    const passed = passedOn(node.row, found)
    if (passed !== nothing) below[parent.position] = joined(below[parent.position], passed)
  }
}

const nothing: Below = { tokens: false, dollars: false, calls: new Map() }

const callTypes: ReadonlySet<string> = new Set(['generation', 'embedding'])
/** Whoever works below these works for itself. */
const workTypes: ReadonlySet<string> = new Set(['tool', 'agent'])

function addOwn(node: TreeNode, row: TraceRow, below: Below): void {
  const { rollup } = node
  const isCall = callTypes.has(row.type)
  const sameCall = isCall ? below.calls.get(row.type) : undefined
  const repeats = isCall ? sameCall : below
  node.usage = shareOf(hasTokens(row), repeats?.tokens)
  node.cost = shareOf(row.cost_usd !== null, repeats?.dollars)
  if (node.usage === 'aggregate' && totalOf(row) !== rollup.total_tokens) {
    node.marks.push('aggregate_differs')
  }
  rollup.observations += 1
  if (row.status === 'error') rollup.errors += 1
  if (row.status === 'cancelled') rollup.cancelled += 1
  if (node.usage === 'own') addTokens(rollup, row)
  if (node.cost === 'own') rollup.nano_dollars += nanoDollarsFrom(row.cost_usd ?? '0')
  if (isCall && sameCall === undefined) {
    rollup.calls += 1
    if (row.cost_usd === null) rollup.unpriced_calls += 1
  } else if (isCall && node.cost === 'own' && rollup.unpriced_calls > 0) rollup.unpriced_calls -= 1
}

function shareOf(says: boolean, isRepeated: boolean | undefined): TreeNode['usage'] {
  if (!says) return 'none'
  return isRepeated ? 'aggregate' : 'own'
}

function hasTokens(row: TraceRow): boolean {
  return tokenBuckets.some((bucket) => row[bucket] !== null)
}

/** Tokens of all buckets; what is not known adds nothing. */
export function totalOf(row: TraceRow): number {
  let total = 0
  for (const bucket of tokenBuckets) total += row[bucket] ?? 0
  return total
}

function addTokens(rollup: RollUp, row: TraceRow): void {
  for (const bucket of tokenBuckets) rollup[bucket] += row[bucket] ?? 0
  rollup.total_tokens += totalOf(row)
}

function passedOn(row: TraceRow | null, below: Below): Below {
  if (row === null) return below
  const own = { tokens: hasTokens(row), dollars: row.cost_usd !== null }
  const isCall = callTypes.has(row.type)
  const passing = workTypes.has(row.type) ? nothing.calls : below.calls
  if (!isCall && !own.tokens && !own.dollars && passing === below.calls) return below
  const calls = new Map(passing)
  if (isCall) calls.set(row.type, eitherOf(calls.get(row.type), own))
  return { ...eitherOf(below, own), calls }
}

function joined(known: Below | undefined, passed: Below): Below {
  if (known === undefined) return passed
  if (tellsAll(known, passed)) return known
  const calls = new Map(known.calls)
  for (const [type, call] of passed.calls) calls.set(type, eitherOf(calls.get(type), call))
  return { ...eitherOf(known, passed), calls }
}

/** Most siblings pass on the same. */
function tellsAll(known: Below, passed: Below): boolean {
  const covers = (a: CallBelow | undefined, b: CallBelow) =>
    a !== undefined && (a.tokens || !b.tokens) && (a.dollars || !b.dollars)
  if (!covers(known, passed)) return false
  for (const [type, call] of passed.calls) if (!covers(known.calls.get(type), call)) return false
  return true
}

function eitherOf(a: CallBelow | undefined, b: CallBelow): CallBelow {
  return { tokens: b.tokens || a?.tokens === true, dollars: b.dollars || a?.dollars === true }
}
