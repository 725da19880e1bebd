import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyRows, rowOf } from '../../../../test/support/trace-rows.ts'
import { buildTree } from '../tree/build-tree.ts'
import { comparePair, compareTrees } from './compare-trees.ts'

test('the n-th node of a name matches the n-th node of that name', () => {
  const left = buildTree([
    rowOf({ id: 'a', name: 'agent', at: 0, took: 90 }),
    rowOf({ id: 'b', parent: 'a', name: 'chat', at: 1, took: 5 }),
    rowOf({ id: 'c', parent: 'a', name: 'search', at: 10, took: 5 }),
    rowOf({ id: 'd', parent: 'c', name: 'fetch', at: 11, took: 1 }),
    rowOf({ id: 'e', parent: 'a', name: 'chat', at: 20, took: 5 }),
  ])
  const right = buildTree([
    rowOf({ id: '1', name: 'agent', at: 0, took: 90 }),
    rowOf({ id: '2', parent: '1', name: 'chat', at: 1, took: 5, status: 'error' }),
    rowOf({ id: '3', parent: '1', name: 'chat', at: 2, took: 5 }),
    rowOf({ id: '4', parent: '1', name: 'chat', at: 9, took: 5 }),
  ])
  const pairs = compareTrees(left, right).map((pair) => {
    const { left: one, right: other, depth } = pair
    return `${' '.repeat(depth)}${one?.id ?? '-'} ${other?.id ?? '-'} ${comparePair(pair)}`
  })
  expect(pairs).toEqual([
    'a 1 matched',
    ' b 2 changed',
    ' c - removed',
    '  d - removed',
    ' e 3 matched',
    ' - 4 added',
  ])
})

test('each node is in one pair, and a trace equals itself', () => {
  fc.assert(
    fc.property(anyRows, anyRows, (one, other) => {
      const [left, right] = [buildTree(one), buildTree(other)]
      const pairs = compareTrees(left, right)
      const lefts = pairs.flatMap((pair) => pair.left ?? [])
      const rights = pairs.flatMap((pair) => pair.right ?? [])
      expect(new Set(lefts)).toEqual(new Set(left.nodes))
      expect(lefts).toHaveLength(left.nodes.length)
      expect(new Set(rights)).toEqual(new Set(right.nodes))
      expect(rights).toHaveLength(right.nodes.length)
      const twice = compareTrees(left, buildTree(one))
      expect(twice.filter((pair) => comparePair(pair) !== 'matched')).toEqual([])
    }),
  )
})
