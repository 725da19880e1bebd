import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { byStart } from '../tree/sibling-order.ts'

/** What a node has to be; what is left out narrows nothing. */
export type NodeFilter = {
  name?: string | undefined
  type?: string | undefined
  status?: string | undefined
  mark?: string | undefined
  /** Ids that a search for text found. */
  ids?: ReadonlySet<string> | undefined
}

/** The nodes that a filter lets through, by start and id; pure. Synthetic roots are none. */
export function findNodes({ nodes }: TraceTree, filter: NodeFilter): TreeNode[] {
  const { name, type, status, mark, ids } = filter
  return nodes
    .filter(({ row, id, marks }) => {
      if (row === null) return false
      if (name !== undefined && row.name !== name) return false
      if (type !== undefined && row.type !== type) return false
      if (status !== undefined && row.status !== status) return false
      if (mark !== undefined && !marks.some((each) => each === mark)) return false
      return ids === undefined || ids.has(id)
    })
    .sort(byStart)
}
