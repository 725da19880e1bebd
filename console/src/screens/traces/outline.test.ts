import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  hasChildren,
  nextNode,
  type Outline,
  periodOf,
  toTree,
  unfoldTo,
  visibleNodes,
  zoomed,
} from './outline.ts'

type Node = { children: Node[] }
const node: fc.Memo<Node> = fc.memo((n) =>
  fc.record({ children: n > 1 ? fc.array(node(n - 1), { maxLength: 4 }) : fc.constant([]) }),
)

/** The columns of a forest, depth first, and what a naive walk says of each node. */
function columns(roots: Node[]) {
  const parent: number[] = []
  const naive: { depth: number; below: number[]; above: number[] }[] = []
  const walk = (each: Node, above: number[]): number[] => {
    const own = parent.length
    parent.push(above.at(-1) ?? -1)
    const entry = { depth: above.length, below: [] as number[], above }
    naive.push(entry)
    entry.below = each.children.flatMap((child) => walk(child, [...above, own]))
    return [own, ...entry.below]
  }
  for (const root of roots) walk(root, [])
  const start_us = parent.map((_, at) => at * 10)
  const dur_us = parent.map(() => 5)
  return { outline: { parent, start_us, dur_us, findings: [] } as unknown as Outline, naive }
}

test('depths, ends and folds agree with a walk of the tree', () => {
  const folds = fc.array(fc.nat(60), { maxLength: 10 })
  fc.assert(
    fc.property(fc.array(node(4), { maxLength: 4 }), folds, fc.nat(60), (roots, folded, at) => {
      const { outline, naive } = columns(roots)
      const tree = toTree(outline)
      expect([...tree.depth]).toEqual(naive.map(({ depth }) => depth))
      naive.forEach(({ below }, i) => {
        expect(tree.end[i]).toBe(i + 1 + below.length)
        expect(hasChildren(tree, i)).toBe(below.length > 0)
      })
      const hidden = new Set(folded.flatMap((i) => naive[i]?.below ?? []))
      const shown = naive.map((_, i) => i).filter((i) => !hidden.has(i))
      expect([...visibleNodes(tree, new Set(folded))]).toEqual(shown)
      if (at >= naive.length) return
      const open = unfoldTo(tree, at, new Set(folded))
      expect([...visibleNodes(tree, open)]).toContain(at)
    }),
  )
})

test('the next node that matches, once around', () => {
  const errors = new Set([2, 5])
  expect([0, 2, 5].map((from) => nextNode(6, from, (i) => errors.has(i)))).toEqual([2, 5, 2])
  expect(nextNode(6, 0, () => false)).toBeUndefined()
  expect(nextNode(0, 0, () => true)).toBeUndefined()
})

test('periods and zoom stay within the whole', () => {
  const { outline } = columns([{ children: [{ children: [] }] }])
  const tree = toTree(outline)
  expect(periodOf(tree, [0, 1])).toEqual({ start_us: 0, end_us: 15 })
  expect(periodOf(tree, [])).toEqual({ start_us: 0, end_us: 1 })
  const whole = { start_us: 0, end_us: 100 }
  expect(zoomed(whole, 0.5, whole)).toEqual({ start_us: 25, end_us: 75 })
  expect(zoomed({ start_us: 90, end_us: 100 }, 4, whole)).toEqual({ start_us: 75, end_us: 100 })
})
