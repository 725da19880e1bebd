import type { TreeNode } from './contract.ts'

/** Where siblings stand: by start, then id; the rest keeps any order of rows the same tree. */
export function byStart(a: TreeNode, b: TreeNode): number {
  return (
    a.start - b.start ||
    compareText(a.id, b.id) ||
    compareText(a.trace_id, b.trace_id) ||
    a.end - b.end ||
    compareText(a.row?.parent_observation_id ?? '', b.row?.parent_observation_id ?? '') ||
    compareText(a.row?.name ?? '', b.row?.name ?? '')
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
