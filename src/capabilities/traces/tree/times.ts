import { isoFromNs } from '../../../kernel/time.ts'
import type { TreeNode } from './contract.ts'

/** Converts nanoseconds to milliseconds. */
export function msFrom(ns: number): number {
  return ns / 1_000_000
}

/** Returns a time of a tree, counted from `origin_ns`, as ISO 8601. */
export function isoAt(origin_ns: bigint, ns: number): string {
  return isoFromNs(origin_ns + BigInt(Math.round(ns)))
}

/**
 * Measures each node's self time, overlap and longest gap. Children are sorted by start and cut to
 * the node: its duration is its self time plus their durations minus their overlap.
 */
export function measureTimes(nodes: readonly TreeNode[]): void {
  for (const node of nodes) measureNode(node)
}

function measureNode(node: TreeNode): void {
  let busyUntil = node.start
  let covered = 0
  let sum = 0
  for (const child of node.children) {
    const from = Math.max(child.start, node.start)
    const to = Math.min(child.end, node.end)
    if (isOutside(child, node)) child.marks.push('outside_parent')
    if (to <= from) continue
    keepLonger(node, busyUntil, from)
    sum += to - from
    covered += Math.max(0, to - Math.max(from, busyUntil))
    busyUntil = Math.max(busyUntil, to)
  }
  if (node.children.length > 0) keepLonger(node, busyUntil, node.end)
  node.self = node.end - node.start - covered
  node.overlap = sum - covered
}

function isOutside(child: TreeNode, node: TreeNode): boolean {
  return node.row !== null && (child.end < node.start || child.start > node.end)
}

function keepLonger(node: TreeNode, start: number, end: number): void {
  const longest = node.gap === null ? 0 : node.gap.end - node.gap.start
  if (end - start > longest) node.gap = { start, end }
}

/** Larger differences are marked but not corrected: they are unlikely to come from clocks. */
const maxClockSkewNs = 300_000_000_000

/**
 * Corrects the clocks of other hosts, like Jaeger's clock skew adjuster. A child inside its parent
 * is unchanged. A shorter child moves to the middle of its parent, as if both network delays were
 * equal. A longer child must not start before its parent. A child on its parent's host moves with
 * it.
 */
export function correctClocks(roots: readonly TreeNode[]): void {
  const queue = roots.flatMap(({ children, row }) => (row === null ? children : []))
  const waiting = [...roots.filter(({ row }) => row !== null), ...queue]
  for (let at = 0; at < waiting.length; at += 1) {
    const parent = waiting[at]
    if (parent === undefined) break
    for (const child of parent.children) {
      correctNode(child, parent)
      waiting.push(child)
    }
  }
}

function correctNode(child: TreeNode, parent: TreeNode): void {
  const skew = findSkew(child, parent)
  if (skew !== 0) {
    child.skew = skew
    child.start += skew
    child.end += skew
    child.marks.push('clock_skew')
  }
}

function findSkew(child: TreeNode, parent: TreeNode): number {
  const host = findHost(child)
  if (host === '' || host === findHost(parent)) return parent.skew
  // A queue consumer can run at any time, so its times say nothing about its clock.
  if (child.row?.span_kind === 'consumer') return 0
  const skew = distanceToFit(child, parent)
  if (Math.abs(skew) <= maxClockSkewNs) return skew
  child.marks.push('clock_skew_too_large')
  return 0
}

/** Returns the host that recorded a node: the proxy, or a service; '' if unknown. */
function findHost({ row }: TreeNode): string {
  if (row === null) return ''
  return row.source === 'proxy' ? 'proxy:' : row.service_name
}

function distanceToFit(child: TreeNode, parent: TreeNode): number {
  const [duration, parentDuration] = [child.end - child.start, parent.end - parent.start]
  if (duration > parentDuration) return Math.max(0, parent.start - child.start)
  if (child.start >= parent.start && child.end <= parent.end) return 0
  return parent.start + Math.floor((parentDuration - duration) / 2) - child.start
}
