import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'
import type { CriticalPath } from './find-path.ts'

/** What a node, or all of one name, did on the path. Times are nanoseconds. */
export type OnPath = {
  on_path: number
  segments: number
  /** What was used on the path, and counts. */
  tokens: number
  nano_dollars: bigint
}
export type NodeOnPath = OnPath & { node: TreeNode; first_start: number }
/** Observations of one type and name. */
export type OperationOnPath = OnPath & { type: string; name: string; observations: number }

/** Each node of the path, the one with the largest part first. */
export function nodesOnPath({ segments }: CriticalPath): NodeOnPath[] {
  const found = new Map<TreeNode, NodeOnPath>()
  for (const { node, start, end } of segments) {
    const known = found.get(node) ?? { node, first_start: start, ...ownUse(node), ...nothing }
    known.on_path += end - start
    known.segments += 1
    found.set(node, known)
  }
  return [...found.values()].sort(
    (a, b) => b.on_path - a.on_path || a.node.position - b.node.position,
  )
}

const nothing = { on_path: 0, segments: 0 }

/** Sums them up by type and name, the largest first. */
export function operationsOnPath(nodes: readonly NodeOnPath[]): OperationOnPath[] {
  const found = new Map<string, OperationOnPath>()
  for (const { node, on_path, segments, tokens, nano_dollars } of nodes) {
    const { type, name } = operationOf(node)
    const key = `${type} ${name}`
    const zero = { tokens: 0, nano_dollars: 0n, observations: 0, ...nothing }
    const known = found.get(key) ?? { type, name, ...zero }
    known.on_path += on_path
    known.segments += segments
    known.tokens += tokens
    known.nano_dollars += nano_dollars
    known.observations += 1
    found.set(key, known)
  }
  return [...found.values()].sort((a, b) => b.on_path - a.on_path)
}

/** What a node does: its type and name. */
export function operationOf({ row }: TreeNode): { type: string; name: string } {
  return { type: row?.type ?? 'synthetic', name: row?.name ?? '' }
}

/** What the whole trace used, each thing counted once. */
export function usedBy({ roots }: TraceTree): Pick<OnPath, 'tokens' | 'nano_dollars'> {
  let [tokens, nano_dollars] = [0, 0n]
  for (const { rollup } of roots) {
    tokens += rollup.total_tokens
    nano_dollars += rollup.nano_dollars
  }
  return { tokens, nano_dollars }
}

function ownUse({ row, usage, cost }: TreeNode): Pick<OnPath, 'tokens' | 'nano_dollars'> {
  return {
    tokens: row !== null && usage === 'own' ? totalOf(row) : 0,
    nano_dollars: cost === 'own' ? nanoDollarsFrom(row?.cost_usd ?? '0') : 0n,
  }
}
