import type { TreeNode } from './contract.ts'

/** Clocks that differ by more are not corrected, only marked: rather the times mean something else. */
const clockSkew_ns_max = 300_000_000_000

/**
 * Moves what another host recorded into its parent's time, as Jaeger's clock skew adjuster does: a
 * child that fits is left; one that is shorter is put in the middle of its parent, as if the way to
 * and from it took the same time; one that is longer may not start before it. What has its parent's host moves with its parent.
 */
export function correctClocks(roots: readonly TreeNode[]): void {
  const queue = roots.flatMap(({ children, row }) => (row === null ? children : []))
  const waiting = [...roots.filter(({ row }) => row !== null), ...queue]
  for (let at = 0; at < waiting.length; at += 1) {
    const parent = waiting[at]
    if (parent === undefined) break
    for (const child of parent.children) {
      correct(child, parent)
      waiting.push(child)
    }
  }
}

function correct(child: TreeNode, parent: TreeNode): void {
  const skew = skewOf(child, parent)
  if (skew !== 0) {
    child.skew = skew
    child.start += skew
    child.end += skew
    child.marks.push('clock_skew')
  }
}

function skewOf(child: TreeNode, parent: TreeNode): number {
  const host = hostOf(child)
  if (host === '' || host === hostOf(parent)) return parent.skew
  // What takes messages from a queue runs when it likes: its times say nothing of its clock.
  if (child.row?.span_kind === 'consumer') return 0
  const skew = distance(child, parent)
  if (Math.abs(skew) <= clockSkew_ns_max) return skew
  child.marks.push('clock_skew_too_large')
  return 0
}

/** Who recorded it, as far as that is known: the proxy, or a service. */
function hostOf({ row }: TreeNode): string {
  if (row === null) return ''
  return row.source === 'proxy' ? 'proxy:' : row.service_name
}

function distance(child: TreeNode, parent: TreeNode): number {
  const [took, parentTook] = [child.end - child.start, parent.end - parent.start]
  if (took > parentTook) return Math.max(0, parent.start - child.start)
  if (child.start >= parent.start && child.end <= parent.end) return 0
  return parent.start + Math.floor((parentTook - took) / 2) - child.start
}
