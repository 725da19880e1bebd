import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TraceRow, TraceTree, TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'
import { operationKey } from './compare-trees.ts'

/** What the observations of one type and name took in a trace. Nanoseconds. */
export type OperationSums = {
  observations: number
  errors: number
  duration: number
  self: number
  tokens: number
  nano_dollars: bigint
}
export type ComparedOperation = {
  type: string
  name: string
  left: OperationSums
  right: OperationSums
}

/** Sums up both traces by type and name; where own times differ most comes first. */
export function compareOperations(left: TraceTree, right: TraceTree): ComparedOperation[] {
  const found = new Map<string, ComparedOperation>()
  const addAll = ({ nodes }: TraceTree, side: 'left' | 'right') => {
    for (const node of nodes) {
      const { row } = node
      if (row === null) continue
      const key = operationKey(node)
      const known = found.get(key) ?? { type: row.type, name: row.name, ...bothEmpty() }
      found.set(key, known)
      addNode(known[side], node, row)
    }
  }
  addAll(left, 'left')
  addAll(right, 'right')
  const difference = (each: ComparedOperation) => Math.abs(each.right.self - each.left.self)
  return [...found.values()].sort((a, b) => difference(b) - difference(a))
}

function addNode(sums: OperationSums, { start, end, self, usage, cost }: TreeNode, row: TraceRow) {
  sums.observations += 1
  sums.errors += row.status === 'error' ? 1 : 0
  sums.duration += end - start
  sums.self += self
  sums.tokens += usage === 'own' ? totalOf(row) : 0
  sums.nano_dollars += cost === 'own' ? nanoDollarsFrom(row.cost_usd ?? '0') : 0n
}

function bothEmpty(): Pick<ComparedOperation, 'left' | 'right'> {
  const empty = () => ({
    ...{ observations: 0, errors: 0, duration: 0, self: 0, tokens: 0 },
    nano_dollars: 0n,
  })
  return { left: empty(), right: empty() }
}
