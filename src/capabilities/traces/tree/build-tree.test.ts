import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyRows, rowOf } from '../../../../test/support/trace-rows.ts'
import { buildTree } from './build-tree.ts'
import { type TraceTree, type TreeNode, tokenBuckets } from './contract.ts'

const ms = 1_000_000

/** The tree as text: an id for each node, indented by its depth, with its marks. */
function drawn({ nodes }: TraceTree): string[] {
  return nodes.map(({ depth, id, row, marks }) =>
    [' '.repeat(depth) + (row === null ? '*' : id), ...marks].join(' '),
  )
}

function nodeNamed({ nodes }: TraceTree, id: string): TreeNode {
  const node = nodes.find((each) => each.id === id)
  if (node === undefined) throw new Error(`there is no ${id}`)
  return node
}

describe('structure', () => {
  test('children are ordered by start below their parents', () => {
    const tree = buildTree([
      rowOf({ id: 'c', parent: 'a', at: 2, took: 1 }),
      rowOf({ id: 'd', parent: 'b', at: 1, took: 1 }),
      rowOf({ id: 'b', parent: 'a', at: 1, took: 1 }),
      rowOf({ id: 'a', at: 0, took: 9 }),
    ])
    expect(drawn(tree)).toEqual(['a', ' b', '  d', ' c'])
    expect(nodeNamed(tree, 'b')).toMatchObject({ position: 1, last: 2, depth: 1 })
  })

  test('orphans are below one synthetic root, beside the real root', () => {
    const tree = buildTree([
      rowOf({ id: 'a', at: 0, took: 9 }),
      rowOf({ id: 'x', parent: 'gone', at: 3, took: 1 }),
      rowOf({ id: 'y', parent: 'lost', at: 5, took: 2 }),
    ])
    expect(drawn(tree)).toEqual(['a', '* synthetic', ' x orphan', ' y orphan'])
    expect(tree.roots[1]).toMatchObject({ start: 3 * ms, end: 7 * ms, self: 1 * ms })
  })

  test('a cycle is cut at its earliest member', () => {
    const tree = buildTree([
      rowOf({ id: 'c', parent: 'b', at: 3, took: 1 }),
      rowOf({ id: 'a', parent: 'c', at: 1, took: 9 }),
      rowOf({ id: 'b', parent: 'a', at: 2, took: 1 }),
      rowOf({ id: 'in', parent: 'b', at: 0, took: 1 }),
      rowOf({ id: 'self', parent: 'self', at: 9, took: 1 }),
    ])
    expect(drawn(tree).filter((line) => line.includes('cycle'))).toEqual([
      ' a cycle',
      ' self cycle',
    ])
    expect(tree.nodes).toHaveLength(6)
  })

  test('of two observations with one id both are kept; children belong to the earlier', () => {
    const tree = buildTree([
      rowOf({ id: 'a', at: 0, took: 9 }),
      rowOf({ id: 'a', at: 5, took: 1 }),
      rowOf({ id: 'b', parent: 'a', at: 6, took: 1 }),
    ])
    expect(drawn(tree)).toEqual(['a', ' b', 'a repeated_id'])
  })

  test('a parent in another trace is found by its id, unless two traces have that id', () => {
    const [one, two, three] = ['1', '2', '3'].map((n) => `${n}0000000-0000-0000-0000-000000000000`)
    const tree = buildTree([
      rowOf({ trace_id: one ?? '', id: 'a', at: 0, took: 9 }),
      rowOf({ trace_id: two ?? '', id: 'b', parent: 'a', at: 1, took: 1 }),
      rowOf({ trace_id: two ?? '', id: 't', parent: 'b', at: 2, took: 1 }),
      rowOf({ trace_id: one ?? '', id: 't', parent: 'a', at: 3, took: 1 }),
      rowOf({ trace_id: three ?? '', id: 'c', parent: 't', at: 4, took: 1 }),
    ])
    expect(drawn(tree)).toEqual(['a', ' b relinked', '  t', ' t', '* synthetic', ' c orphan'])
  })

  test('deep and wide trees do not overflow the stack', () => {
    const deep = Array.from({ length: 20_000 }, (_, at) =>
      rowOf({ id: `${at}`, parent: at === 0 ? '' : `${at - 1}`, at: 0, took: 1 }),
    )
    expect(buildTree(deep).nodes.at(-1)?.depth).toBe(19_999)
    const circle = deep.map((row, at) =>
      at === 0 ? { ...row, parent_observation_id: '19999' } : row,
    )
    expect(buildTree(circle).nodes.at(-1)?.depth).toBe(20_000)
    const wide = deep.map((row) => ({
      ...row,
      parent_observation_id: row.observation_id === '0' ? '' : '0',
    }))
    expect(buildTree(wide).roots[0]?.children).toHaveLength(19_999)
  })
})

describe('times', () => {
  test('self time, overlap and the longest gap', () => {
    const tree = buildTree([
      rowOf({ id: 'a', at: 0, took: 100 }),
      rowOf({ id: 'b', parent: 'a', at: 10, took: 30 }),
      rowOf({ id: 'c', parent: 'a', at: 20, took: 40 }),
      rowOf({ id: 'd', parent: 'a', at: 90, took: 50 }),
      rowOf({ id: 'e', parent: 'a', at: 200, took: 5 }),
    ])
    expect(nodeNamed(tree, 'a')).toMatchObject({
      self: 40 * ms,
      overlap: 20 * ms,
      gap: { start: 60 * ms, end: 90 * ms },
    })
    expect(nodeNamed(tree, 'e').marks).toEqual(['outside_parent'])
  })

  test('an observation that ends before it starts has duration 0', () => {
    const tree = buildTree([rowOf({ id: 'a', at: 5, took: -3 })])
    expect(tree.nodes[0]).toMatchObject({ start: 0, end: 0, marks: ['ends_before_start'] })
  })

  test.each([
    ['shorter and early: to the middle', { at: 0, took: 20 }, 40],
    ['shorter and late: to the middle', { at: 95, took: 20 }, -55],
    ['longer: not before its parent', { at: 0, took: 200 }, 10],
    ['fits: as it is', { at: 20, took: 20 }, 0],
  ])('another host that is %s', (_, times, skew_ms) => {
    const parent = rowOf({ id: 'p', service_name: 'x', at: 10, took: 80 })
    const tree = buildTree([
      parent,
      rowOf({ id: 'c', parent: 'p', service_name: 'y', ...times }),
      rowOf({ id: 'd', parent: 'c', service_name: 'y', ...times }),
      rowOf({ id: 'same', parent: 'p', service_name: 'x', ...times }),
    ])
    expect(nodeNamed(tree, 'c').skew).toBe(skew_ms * ms)
    expect(nodeNamed(tree, 'd').skew).toBe(skew_ms * ms)
    expect(nodeNamed(tree, 'c').marks.includes('clock_skew')).toBe(skew_ms !== 0)
    expect(nodeNamed(tree, 'same').skew).toBe(0)
  })

  test('queue consumers, `keep_clocks` and large clock differences are not corrected', () => {
    const rows = [
      rowOf({ id: 'p', service_name: 'x', at: 500_000, took: 80 }),
      rowOf({ id: 'q', parent: 'p', service_name: 'y', span_kind: 'consumer', at: 1, took: 1 }),
      rowOf({ id: 'far', parent: 'p', service_name: 'y', at: 1, took: 1 }),
      rowOf({ id: 'near', parent: 'p', service_name: 'y', at: 499_990, took: 1 }),
    ]
    const tree = buildTree(rows)
    expect(nodeNamed(tree, 'q').skew).toBe(0)
    expect(nodeNamed(tree, 'far').marks).toContain('clock_skew_too_large')
    expect(nodeNamed(tree, 'near').marks).toEqual(['clock_skew'])
    expect(nodeNamed(buildTree(rows, { keep_clocks: true }), 'near').marks).toEqual([
      'outside_parent',
    ])
  })
})

describe('sums', () => {
  const call = { type: 'generation', input_uncached_tokens: 100, cost_usd: '0.1' } as const

  test('usage that an agent repeats from its calls is not counted', () => {
    const tree = buildTree([
      rowOf({
        id: 'a',
        type: 'agent',
        at: 0,
        took: 9,
        input_uncached_tokens: 200,
        cost_usd: '0.2',
      }),
      rowOf({ id: 'b', parent: 'a', at: 1, took: 1, ...call }),
      rowOf({ id: 'c', parent: 'a', at: 2, took: 1, ...call, status: 'error' }),
    ])
    const agent = nodeNamed(tree, 'a')
    expect(agent).toMatchObject({ usage: 'aggregate', cost: 'aggregate', marks: [] })
    expect(agent.rollup).toMatchObject({
      observations: 3,
      calls: 2,
      errors: 1,
      total_tokens: 200,
      nano_dollars: 200_000_000n,
    })
  })

  test('usage that only an agent reports counts; a difference from its calls is marked', () => {
    const silent = rowOf({ id: 'b', parent: 'a', at: 1, took: 1, type: 'generation' })
    const agent = rowOf({ id: 'a', type: 'agent', at: 0, took: 9, input_uncached_tokens: 7 })
    const tree = buildTree([agent, silent])
    expect(nodeNamed(tree, 'a')).toMatchObject({ usage: 'own', rollup: { total_tokens: 7 } })
    const other = buildTree([agent, { ...silent, input_uncached_tokens: 3 }])
    expect(nodeNamed(other, 'a')).toMatchObject({
      usage: 'aggregate',
      marks: ['aggregate_differs'],
      rollup: { total_tokens: 3 },
    })
  })

  test('a call that another row counts adds nothing, and is counted as merged', () => {
    const outer = rowOf({ id: 'a', at: 0, took: 9, ...call, counted_with: 'b' })
    const inner = rowOf({ id: 'b', parent: 'a', at: 1, took: 1, ...call })
    const twice = nodeNamed(buildTree([outer, inner]), 'a')
    expect(twice).toMatchObject({ usage: 'aggregate', cost: 'aggregate' })
    const once = { calls: 1, merged_calls: 1, total_tokens: 100, nano_dollars: 100_000_000n }
    expect(twice.rollup).toMatchObject({ ...once, unpriced_calls: 0 })
    const apart = nodeNamed(buildTree([{ ...outer, counted_with: '', cost_usd: null }, inner]), 'a')
    const two = { calls: 2, merged_calls: 0, total_tokens: 200, unpriced_calls: 1 }
    expect(apart.rollup).toMatchObject(two)
  })
})

describe('of any rows', () => {
  test('each row is one node, below its parent', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { nodes, roots } = buildTree(rows)
        expect(nodes.filter(({ row }) => row !== null)).toHaveLength(rows.length)
        expect(new Set(nodes).size).toBe(nodes.length)
        for (const [position, node] of nodes.entries()) {
          expect(node.position).toBe(position)
          expect(node.parent === null).toBe(roots.includes(node))
          if (node.parent === null) continue
          expect(node.parent.position).toBeLessThan(position)
          expect(node.parent.last).toBeGreaterThanOrEqual(node.last)
          expect(node.parent.children).toContain(node)
        }
      }),
    )
  })

  test('self time plus children minus overlap equals the duration', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        for (const node of buildTree(rows).nodes) {
          const within = node.children.map((child) =>
            Math.max(0, Math.min(child.end, node.end) - Math.max(child.start, node.start)),
          )
          const sum = within.reduce((a, b) => a + b, 0)
          expect(node.self + sum - node.overlap).toBe(node.end - node.start)
          expect(node.self).toBeGreaterThanOrEqual(0)
          expect(node.overlap).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  test('a sum counts each own share below it once', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const { nodes } = buildTree(rows)
        for (const node of nodes) {
          const below = nodes.slice(node.position, node.last + 1)
          const counted = below.filter(({ usage }) => usage === 'own')
          for (const bucket of tokenBuckets) {
            const sum = counted.reduce((all, { row }) => all + (row?.[bucket] ?? 0), 0)
            expect(node.rollup[bucket]).toBe(sum)
          }
          const rowsBelow = below.filter(({ row }) => row !== null)
          expect(node.rollup.observations).toBe(rowsBelow.length)
          const failed = rowsBelow.filter(({ row }) => row?.status === 'error')
          expect(node.rollup.errors).toBe(failed.length)
        }
      }),
    )
  })

  test('the order of rows makes no difference', () => {
    const orders = anyRows.chain((rows) =>
      fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
    )
    fc.assert(
      fc.property(orders, ([rows, shuffled]) => {
        expect(seen(buildTree(shuffled))).toEqual(seen(buildTree(rows)))
      }),
    )
  })
})

function seen({ nodes, origin_ns }: TraceTree) {
  const shown = nodes.map(({ parent, children, ...node }) => ({
    ...node,
    parent: parent?.position ?? null,
    children: children.map(({ position }) => position),
  }))
  return { origin_ns, shown }
}
