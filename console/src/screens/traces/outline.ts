import type { OutlineFinding, TaskOutline, TraceOutline } from '../../api/schema.gen.d.ts'

/** The nodes of a trace or task as columns: item `i` of each column belongs to node `i`. */
export type Outline = TaskOutline | TraceOutline

/** An outline with what a screen needs for each node, in arrays of the same length. */
export type Tree = {
  outline: Outline
  /** Number of nodes. */
  size: number
  /** Depth of each node; 0 for roots. */
  depth: Uint16Array
  /** Index after the last descendant of each node. */
  end: Int32Array
  /** Findings with a place on the node. */
  findings: ReadonlyMap<number, readonly OutlineFinding[]>
}

/** Prepares an outline for the screen. Takes time in proportion to its nodes. */
export function toTree(outline: Outline): Tree {
  const { parent } = outline
  const size = parent.length
  const depth = new Uint16Array(size)
  const end = new Int32Array(size)
  for (let i = 0; i < size; i += 1) {
    const above = parent[i] ?? -1
    depth[i] = above < 0 ? 0 : (depth[above] ?? 0) + 1
  }
  // Children come after their parent, so each node is complete before its parent is reached.
  for (let i = size - 1; i >= 0; i -= 1) {
    end[i] = Math.max(end[i] ?? 0, i + 1)
    const above = parent[i] ?? -1
    if (above >= 0) end[above] = Math.max(end[above] ?? 0, end[i] ?? 0)
  }
  return { outline, size, depth, end, findings: findingsByNode(outline.findings) }
}

function findingsByNode(found: readonly OutlineFinding[]): Map<number, OutlineFinding[]> {
  const findings = new Map<number, OutlineFinding[]>()
  for (const finding of found) {
    for (const node of new Set(finding.nodes)) {
      findings.set(node, [...(findings.get(node) ?? []), finding])
    }
  }
  return findings
}

/** Returns the nodes without those below folded ones, in order. */
export function visibleNodes({ size, end }: Tree, folded: ReadonlySet<number>): Int32Array {
  const shown = new Int32Array(size)
  let count = 0
  for (let i = 0; i < size; ) {
    shown[count++] = i
    i = folded.has(i) ? (end[i] ?? i + 1) : i + 1
  }
  return shown.subarray(0, count)
}

/** Returns whether a node has children. */
export function hasChildren({ end }: Tree, node: number): boolean {
  return (end[node] ?? 0) > node + 1
}

/**
 * Returns the next node after `from` for which `matches`, from the start again after the last one;
 * undefined without any.
 */
export function nextNode(
  size: number,
  from: number,
  matches: (node: number) => boolean,
): number | undefined {
  for (let step = 1; step <= size; step += 1) {
    const node = (from + step) % size
    if (matches(node)) return node
  }
  return undefined
}

/** Returns the folded nodes without the ancestors of a node, so that it can be seen. */
export function unfoldTo(
  { outline }: Tree,
  node: number,
  folded: ReadonlySet<number>,
): ReadonlySet<number> {
  const open = new Set(folded)
  for (let i = outline.parent[node] ?? -1; i >= 0; i = outline.parent[i] ?? -1) open.delete(i)
  return open
}

/** A period in microseconds after the origin of the outline. */
export type Period = { start_us: number; end_us: number }

/** Returns the period that nodes span; at least a microsecond, so that it can be divided by. */
export function periodOf({ outline }: Tree, nodes: Iterable<number>): Period {
  let [start_us, end_us] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const i of nodes) {
    const at = outline.start_us[i] ?? 0
    start_us = Math.min(start_us, at)
    end_us = Math.max(end_us, at + (outline.dur_us[i] ?? 0))
  }
  if (start_us > end_us) return { start_us: 0, end_us: 1 }
  return { start_us, end_us: Math.max(end_us, start_us + 1) }
}

/** Returns a period `factor` times as long around its middle, within `whole`. */
export function zoomed({ start_us, end_us }: Period, factor: number, whole: Period): Period {
  const middle = (start_us + end_us) / 2
  const half = Math.max(((end_us - start_us) / 2) * factor, 0.5)
  return {
    start_us: Math.max(middle - half, whole.start_us),
    end_us: Math.min(middle + half, whole.end_us),
  }
}
