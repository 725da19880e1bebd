import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'
import type { CriticalPath } from './find-path.ts'

/** The part of the path of a node, or of an operation. Times are nanoseconds. */
export type OnPath = {
  on_path: number
  segments: number
  /** Usage on the path that counts in the sums. */
  tokens: number
  nano_dollars: bigint
}

export type NodeOnPath = OnPath & { node: TreeNode; first_start: number }

/** Observations of one type and name. */
export type OperationOnPath = OnPath & { type: string; name: string; observations: number }

/** Returns each node of the path, the largest part first. */
export function nodesOnPath({ segments }: CriticalPath): NodeOnPath[] {
  const parts = new Map<TreeNode, NodeOnPath>()
  for (const { node, start, end } of segments) {
    const known = parts.get(node) ?? { node, first_start: start, ...ownUsage(node), ...noTime }
    known.on_path += end - start
    known.segments += 1
    parts.set(node, known)
  }
  return [...parts.values()].sort(
    (a, b) => b.on_path - a.on_path || a.node.position - b.node.position,
  )
}

const noTime = { on_path: 0, segments: 0 }

/** Sums nodes by type and name, the largest part first. */
export function operationsOnPath(nodes: readonly NodeOnPath[]): OperationOnPath[] {
  const parts = new Map<string, OperationOnPath>()
  for (const { node, on_path, segments, tokens, nano_dollars } of nodes) {
    const { type, name } = toOperation(node)
    const key = `${type} ${name}`
    const zero = { tokens: 0, nano_dollars: 0n, observations: 0, ...noTime }
    const known = parts.get(key) ?? { type, name, ...zero }
    known.on_path += on_path
    known.segments += segments
    known.tokens += tokens
    known.nano_dollars += nano_dollars
    known.observations += 1
    parts.set(key, known)
  }
  return [...parts.values()].sort((a, b) => b.on_path - a.on_path)
}

/** Returns a node's type and name. */
function toOperation({ row }: TreeNode): { type: string; name: string } {
  return { type: row?.type ?? 'synthetic', name: row?.name ?? '' }
}

/** Sums the usage of the whole trace, each item counted once. */
export function sumUsage({ roots }: TraceTree): Pick<OnPath, 'tokens' | 'nano_dollars'> {
  let [tokens, nano_dollars] = [0, 0n]
  for (const { rollup } of roots) {
    tokens += rollup.total_tokens
    nano_dollars += rollup.nano_dollars
  }
  return { tokens, nano_dollars }
}

function ownUsage({ row, usage, cost }: TreeNode): Pick<OnPath, 'tokens' | 'nano_dollars'> {
  return {
    tokens: row !== null && usage === 'own' ? totalOf(row) : 0,
    nano_dollars: cost === 'own' ? nanoDollarsFrom(row?.cost_usd ?? '0') : 0n,
  }
}
