import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyRows, rowOf } from '../../../../test/support/trace-rows.ts'
import { buildTree } from '../tree/build-tree.ts'
import type { TraceRow, TreeNode } from '../tree/contract.ts'
import { type CriticalPath, findCriticalPath } from './find-path.ts'
import { findGain, findSlack } from './find-slack.ts'

const ms = 1_000_000

function pathOf(rows: TraceRow[]): CriticalPath {
  const [root] = buildTree(rows).roots
  if (root === undefined) throw new Error('no root')
  return findCriticalPath(root)
}

const drawn = ({ segments }: CriticalPath) =>
  segments.map(({ node, start, end }) => `${node.id} ${start / ms}-${end / ms}`)

/** a: b and c side by side, then d, then nothing. */
const fork = [
  rowOf({ id: 'a', at: 0, took: 100 }),
  rowOf({ id: 'b', parent: 'a', at: 10, took: 20 }),
  rowOf({ id: 'c', parent: 'a', at: 10, took: 40 }),
  rowOf({ id: 'c1', parent: 'c', at: 20, took: 10 }),
  rowOf({ id: 'd', parent: 'a', at: 60, took: 30 }),
]

function gain(path: CriticalPath, share: number, ...ids: string[]): number {
  const targets = new Set([...path.stages.keys()].filter(({ id }) => ids.includes(id)))
  return findGain(path, targets, share) / ms
}

describe('the path', () => {
  test('follows the child that ended last, from the end back', () => {
    expect(drawn(pathOf(fork))).toEqual([
      'a 0-10',
      'c 10-20',
      'c1 20-30',
      'c 30-50',
      'a 50-60',
      'd 60-90',
      'a 90-100',
    ])
  })

  test('children are cut to their parents, and those outside are left out', () => {
    const path = pathOf([
      rowOf({ id: 'a', at: 10, took: 50 }),
      rowOf({ id: 'early', parent: 'a', at: 10, took: 0 }),
      rowOf({ id: 'late', parent: 'a', at: 40, took: 100 }),
      rowOf({ id: 'inner', parent: 'late', at: 50, took: 100 }),
      rowOf({ id: 'outside', parent: 'a', at: 70, took: 10 }),
    ])
    expect(drawn(path)).toEqual(['a 0-30', 'late 30-40', 'inner 40-50'])
  })

  test('of children that end together the first to start is on the path', () => {
    const rows = [
      rowOf({ id: 'a', at: 0, took: 100 }),
      rowOf({ id: 'late', parent: 'a', at: 50, took: 40 }),
      rowOf({ id: 'first', parent: 'a', at: 20, took: 70 }),
      rowOf({ id: 'second', parent: 'a', at: 30, took: 60 }),
    ]
    for (const order of [rows, rows.toReversed()]) {
      expect(drawn(pathOf(order))).toEqual(['a 0-20', 'first 20-90', 'a 90-100'])
    }
  })

  test('time in which a child ran is never that of its parent', () => {
    const path = pathOf([
      rowOf({ id: 'a', at: 0, took: 100 }),
      rowOf({ id: 'b', parent: 'a', at: 10, took: 50 }),
      rowOf({ id: 'b1', parent: 'b', at: 20, took: 15 }),
      rowOf({ id: 'c', parent: 'a', at: 50, took: 40 }),
      rowOf({ id: 'd', parent: 'a', at: 30, took: 5 }),
    ])
    expect(drawn(path)).toEqual([
      'a 0-10',
      'b 10-20',
      'b1 20-30',
      'd 30-35',
      'b 35-50',
      'c 50-90',
      'a 90-100',
    ])
  })

  test('does not wait for queue consumers', () => {
    const rows = [
      rowOf({ id: 'a', at: 0, took: 50, span_kind: 'producer' }),
      rowOf({ id: 'b', parent: 'a', at: 10, took: 20, span_kind: 'consumer' }),
    ]
    expect(drawn(pathOf(rows))).toEqual(['a 0-50'])
  })
})

describe('slack and what-if', () => {
  test('slack extends to the end of the sibling that was waited for', () => {
    const path = pathOf(fork)
    const slack = [...findSlack(path)].map(([{ id }, ns]) => [id, ns / ms])
    expect(Object.fromEntries(slack)).toEqual({ a: 0, b: 20, c: 0, c1: 0, d: 0 })
  })

  test.each([
    [0.5, ['d'], 15],
    [1, ['d'], 30],
    [0.5, ['b'], 0],
    [0.25, ['c'], 10],
    [1, ['c'], 20],
    [1, ['c', 'b'], 40],
    [0.5, ['c1', 'd'], 20],
    [0.5, ['a'], 50],
  ])('%s less of %s', (share, ids, saves_ms) => {
    expect(gain(pathOf(fork), share, ...ids)).toBe(saves_ms)
  })

  test('a child that began earlier gains nothing from later savings', () => {
    const path = pathOf([
      rowOf({ id: 'a', at: 0, took: 100 }),
      rowOf({ id: 'b', parent: 'a', at: 0, took: 40 }),
      rowOf({ id: 'long', parent: 'a', at: 0, took: 80 }),
      rowOf({ id: 'c', parent: 'a', at: 40, took: 60 }),
    ])
    expect(drawn(path)).toEqual(['b 0-40', 'c 40-100'])
    expect(gain(path, 1, 'b')).toBe(20)
  })
})

describe('of any trace', () => {
  const eachRoot = (rows: TraceRow[], check: (path: CriticalPath, root: TreeNode) => void) => {
    for (const root of buildTree(rows).roots) check(findCriticalPath(root), root)
  }

  test('the path is the duration of its root, without holes', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        eachRoot(rows, ({ segments }, root) => {
          let cursor = root.start
          for (const { start, end, node } of segments) {
            expect(start).toBe(cursor)
            expect(end).toBeGreaterThan(start)
            expect(node.start).toBeLessThanOrEqual(start)
            expect(node.end).toBeGreaterThanOrEqual(end)
            cursor = end
          }
          expect(cursor).toBe(root.end)
        })
      }),
    )
  })

  const childrenIn = ({ stages }: CriticalPath, node: TreeNode) => {
    const { picked = [], beside = [] } = stages.get(node) ?? {}
    return { picked: picked.map(spanIn(stages)), all: [...picked, ...beside].map(spanIn(stages)) }
  }

  test('no child runs in the own time of an observation', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        eachRoot(rows, (path) => {
          for (const { node, start, end } of path.segments) {
            if (node.row === null) continue
            const ran = childrenIn(path, node).all.filter(
              (child) => Math.min(child.end, end) > Math.max(child.start, start),
            )
            expect(ran).toEqual([])
          }
        })
      }),
    )
  })

  test('of equal ends the first to start is picked', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        eachRoot(rows, (path) => {
          for (const node of path.stages.keys()) {
            const { picked, all } = childrenIn(path, node)
            for (const { end, last, start } of picked) {
              const equal = all.filter((one) => one.last === last && one.end === end)
              const starts = equal.filter((one) => one.end > one.start).map((one) => one.start)
              expect(start).toBe(Math.min(...starts))
            }
          }
        })
      }),
    )
  })

  test('slack is never negative, and 0 on the path', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        eachRoot(rows, (path) => {
          const slack = findSlack(path)
          for (const each of slack.values()) expect(each).toBeGreaterThanOrEqual(0)
          for (const { node } of path.segments) expect(slack.get(node)).toBe(0)
        })
      }),
    )
  })

  test('faster calls never delay the end, and save at most their own time', () => {
    const share = fc.constantFrom(0, 0.25, 0.5, 1)
    fc.assert(
      fc.property(anyRows, share, fc.nat(), (rows, less, pick) => {
        eachRoot(rows, (path) => {
          const nodes = [...path.stages.keys()]
          const target = nodes[pick % nodes.length]
          if (target === undefined) return
          const { start, end } = path.stages.get(target) ?? target
          const saved = findGain(path, new Set([target]), less)
          expect(saved).toBeGreaterThanOrEqual(0)
          expect(saved).toBeLessThanOrEqual((end - start) * less)
          expect(findGain(path, new Set([target]), 1)).toBeGreaterThanOrEqual(saved)
          if (!path.segments.some(({ node }) => isWithin(node, target))) expect(saved).toBe(0)
        })
      }),
    )
  })
})

function spanIn(stages: CriticalPath['stages']) {
  return (node: TreeNode) => {
    const { start, end } = stages.get(node) ?? node
    return { start, end, last: node.end }
  }
}

function isWithin(node: TreeNode, top: TreeNode): boolean {
  return node.position >= top.position && node.position <= top.last
}
