import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyRows, rowOf } from '../../../../test/support/trace-rows.ts'
import { type Finding, indexMarks } from '../../detection/index.ts'
import { findCriticalPath, longestRoot } from '../critical-path/find-path.ts'
import { buildTree } from '../tree/build-tree.ts'
import type { TraceRow, TreeNode } from '../tree/contract.ts'
import { toNodeReply } from './node-reply.ts'
import { type Outline, toOutline } from './outline.ts'

const traces = ['0198c0de-0000-7000-8000-00000000000a', '0198c0de-0000-7000-8000-00000000000b']
const [one = '', other = ''] = traces

function outlineOf(rows: readonly TraceRow[], whole = false, findings: readonly Finding[] = []) {
  return toOutline(buildTree(rows), { findings, whole })
}

/** Rows of up to two traces, some of which another row counts. */
const anyForest = anyRows.chain((rows) =>
  fc
    .record({
      trace: fc.array(fc.constantFrom(...traces), {
        minLength: rows.length,
        maxLength: rows.length,
      }),
      counted_with: fc.array(fc.constantFrom('', '', 'a', 'b', 'elsewhere'), {
        minLength: rows.length,
        maxLength: rows.length,
      }),
    })
    .map((drawn) =>
      rows.map((row, at) => ({
        ...row,
        trace_id: drawn.trace[at] ?? one,
        counted_with: row.type === 'generation' ? (drawn.counted_with[at] ?? '') : '',
      })),
    ),
)

/** Returns the fields of a node in an outline, as replies of the tree name them. */
function nodeAt(outline: Outline, at: number) {
  const { ids, parent, names, types, statuses, marks } = outline
  return {
    node_id: ids[at],
    trace_id: outline.traces[outline.trace?.[at] ?? 0],
    parent_id: ids[parent[at] ?? -1] ?? null,
    name: names[outline.name[at] ?? -1],
    type: types[outline.type[at] ?? -1],
    status: statuses[outline.status[at] ?? -1] ?? null,
    start_us: outline.start_us[at],
    dur_us: outline.dur_us[at],
    marks: marks.filter((_mark, bit) => ((outline.mark[at] ?? 0) >> bit) % 2 === 1),
    tokens: outline.tokens[at],
    cost_usd: outline.cost_usd[at],
  }
}

/** Returns the same fields of a node of the tree. */
function replyOf(node: TreeNode, origin_ns: bigint) {
  const about = {
    origin_ns,
    details: new Map(),
    marksAt: indexMarks([]),
    shown: 0,
    next_cursor: null,
  }
  const reply = toNodeReply(node, about)
  const { node_id, trace_id, parent_id, name, type, status, rollup } = reply
  const below = [node, ...descendantsOf(node)]
  return {
    ...{ node_id, trace_id, parent_id, name, type, status },
    start_us: Math.round(reply.offset_ms * 1000) + 0,
    dur_us: Math.round(reply.duration_ms * 1000),
    marks: expect.toSatisfy(
      (marks: string[]) => marks.toSorted().join() === reply.marks.toSorted().join(),
    ),
    tokens: below.some(({ usage }) => usage !== 'none') ? rollup.tokens.total : null,
    cost_usd: below.some(({ cost }) => cost !== 'none') ? rollup.cost_usd : null,
  }
}

function descendantsOf({ children }: TreeNode): TreeNode[] {
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

test('an outline says the same of each node as the tree, for any rows', () => {
  fc.assert(
    fc.property(anyForest, fc.boolean(), (rows, whole) => {
      const tree = buildTree(rows)
      const outline = toOutline(tree, { findings: [], whole })
      const lengths = Object.values({
        ...{ a: outline.ids, b: outline.parent, c: outline.on_path, d: outline.counted_with },
        ...{ e: outline.start_us, f: outline.dur_us, g: outline.name, h: outline.type },
        ...{ i: outline.status, j: outline.mark, k: outline.tokens, l: outline.cost_usd },
      }).map(({ length }) => length)
      expect(new Set(lengths)).toEqual(new Set([tree.nodes.length]))
      for (const [at, node] of tree.nodes.entries()) {
        expect(nodeAt(outline, at)).toEqual(replyOf(node, tree.origin_ns))
        expect(outline.parent[at]).toBeLessThan(at)
        const counting = node.row?.counted_with ?? ''
        const with_ = outline.counted_with[at] ?? Number.NaN
        if (with_ >= 0) expect(tree.nodes[with_]?.row?.observation_id).toBe(counting)
        else expect(with_ === -1).toBe(counting === '')
      }
    }),
  )
})

test('nodes come depth first: the descendants of a node follow it', () => {
  fc.assert(
    fc.property(anyForest, (rows) => {
      const { parent } = outlineOf(rows)
      const open: number[] = []
      for (const [at, above] of parent.entries()) {
        while (open.length > 0 && open.at(-1) !== above) open.pop()
        expect(open.at(-1) ?? -1).toBe(above)
        open.push(at)
      }
    }),
  )
})

describe('on_path', () => {
  const onPath = ({ ids, on_path }: Outline) => ids.filter((_id, at) => on_path[at] === 1)

  test('of a trace is the path of its longest root', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const root = longestRoot(buildTree(rows))
        const segments = root === undefined ? [] : findCriticalPath(root).segments
        const outline = outlineOf(rows)
        const marked = outline.ids.filter((_id, at) => outline.on_path[at] === 1).toSorted()
        const expected = [...new Set(segments.map(({ node }) => node.position))]
        expect(marked).toEqual(expected.map((at) => outline.ids[at]).toSorted())
      }),
    )
  })

  const calls = [
    rowOf({ id: 'first', trace_id: one, at: 0, took: 10 }),
    rowOf({ id: 'beside', trace_id: one, at: 2, took: 5 }),
    rowOf({ id: 'second', trace_id: other, at: 20, took: 10 }),
    rowOf({ id: 'inner', trace_id: other, parent: 'second', at: 22, took: 3 }),
  ]

  test('of a task goes through all roots, one after the other', () => {
    expect(onPath(outlineOf(calls, true))).toEqual(['first', 'second', 'inner'])
    expect(onPath(outlineOf(calls))).toEqual(['first'])
  })

  test('of a task leaves out a root while a longer one ran, and has it for the time between', () => {
    const inside = rowOf({ id: 'inside', trace_id: one, at: 3, took: 5 })
    const longer = rowOf({ id: 'longer', trace_id: other, at: 2, took: 8 })
    const earlier = rowOf({ id: 'earlier', trace_id: one, at: 0, took: 5 })
    expect(onPath(outlineOf([inside, longer], true))).toEqual(['longer'])
    expect(onPath(outlineOf([earlier, longer], true))).toEqual(['earlier', 'longer'])
  })

  test('of one root is the same either way', () => {
    const rows = calls.slice(2)
    expect(outlineOf(rows, true).on_path).toEqual(outlineOf(rows).on_path)
    expect(outlineOf([], true)).toMatchObject({ ids: [], on_path: [], traces: [], trace: null })
  })
})

describe('counted_with', () => {
  const counting = { type: 'generation', counted_with: 'p' } as const

  test('names a node of the same trace before one of another trace', () => {
    const rows = [
      rowOf({ id: 's', trace_id: one, at: 0, took: 9, ...counting }),
      rowOf({ id: 'p', trace_id: other, at: 1, took: 5, type: 'generation' }),
    ]
    expect(outlineOf(rows).counted_with).toEqual([1, -1])
    const both = [...rows, rowOf({ id: 'p', trace_id: one, at: 2, took: 5, type: 'generation' })]
    expect(outlineOf(both).counted_with).toEqual([2, -1, -1])
    expect(outlineOf(rows.slice(0, 1)).counted_with).toEqual([-2])
  })

  test('names none of two other traces', () => {
    const third = '0198c0de-0000-7000-8000-00000000000c'
    const rows = [
      rowOf({ id: 's', trace_id: one, at: 0, took: 9, ...counting }),
      rowOf({ id: 'p', trace_id: other, at: 1, took: 5, type: 'generation' }),
      rowOf({ id: 'p', trace_id: third, at: 2, took: 5, type: 'generation' }),
    ]
    expect(outlineOf(rows).counted_with).toEqual([-2, -1, -1])
  })
})

test('a finding has the indexes of its nodes, and findings elsewhere are left out', () => {
  const rows = [
    rowOf({ id: 'a', trace_id: one, at: 0, took: 9 }),
    rowOf({ id: 'b', trace_id: one, parent: 'a', at: 1, took: 1 }),
    rowOf({ id: 'c', trace_id: other, at: 3, took: 1 }),
  ]
  const places = (...given: [string, string][]) =>
    given.map(([trace_id, observation_id]) => ({ trace_id, observation_id }))
  const findings = [
    findingOf('1', places([other, 'c'], [one, 'b'], [other, 'b'])),
    findingOf('2', places([other, 'a'])),
    findingOf('3', []),
  ]
  const outline = outlineOf(rows, true, findings)
  expect(outline.findings).toEqual([
    {
      ...{ finding_id: '1', task_id: 't', kind: 'loop', type: 'repeat_call', severity: 'high' },
      ...{ state: 'open', summary: 'It repeats', nodes: [2, 1] },
    },
  ])
  expect(outline.findings_total).toBe(1)
})

function findingOf(finding_id: string, places: Finding['places']): Finding {
  const at = '2026-01-01T00:00:00.000Z'
  return {
    ...{ finding_id, project_id: 'p', task_id: 't', kind: 'loop', type: 'repeat_call' },
    ...{ detector: 'repeats', detector_version: 1, severity: 'high', state: 'open' },
    ...{ summary: 'It repeats', start_step: 0, end_step: 1, period: 1, repeats: 2 },
    ...{ places, trace_ids: [], wasted_tokens: 0, wasted_cost_usd: '0', recovered: false },
    ...{ confidence: 1, evidence: {}, judge: null, started_at: at },
    ...{ first_detected_at: at, updated_at: at },
  }
}
