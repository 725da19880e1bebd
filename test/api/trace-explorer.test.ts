import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Json } from '../support/query-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import { type GivenRow, openTraceApi, type TraceApi } from '../support/trace-api.ts'
import { traceStartNs } from '../support/trace-rows.ts'

let api: TraceApi
beforeAll(async () => {
  api = await openTraceApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (trace_id: string, query = '') => `traces/${trace_id}/explorer?${query}`
const drawn = ({ nodes }: Json) =>
  nodes.map(({ node_id, depth }: Json) => ' '.repeat(depth) + String(node_id).slice(0, 7))

const agent: GivenRow[] = [
  {
    ...{ id: 'agent', at: 0, took: 100, type: 'agent', name: 'planner', task_name: 'book a trip' },
    ...{ input_uncached_tokens: 300, cost_usd: '0.3' },
  },
  {
    ...{ id: 'call-1', parent: 'agent', at: 10, took: 20, type: 'generation', name: 'chat' },
    ...{ input_uncached_tokens: 100, cost_usd: '0.1', input: 'where to go' },
  },
  { id: 'tool', parent: 'agent', at: 40, took: 10, type: 'tool', name: 'search' },
  {
    ...{ id: 'call-2', parent: 'agent', at: 60, took: 30, type: 'generation', name: 'chat' },
    ...{ input_uncached_tokens: 200, cost_usd: '0.2', status: 'error' },
    ...{ error_type: 'rate_limit', error_message: 'slow down, please' },
  },
]

describe('a page of the tree', () => {
  test('has times, sums and usage of each node', async () => {
    const trace_id = await api.store(agent)
    const { status, body } = await api.get(path(trace_id))
    expect(status).toBe(200)
    expect(drawn(body)).toEqual(['agent', ' call-1', ' tool', ' call-2'])
    expect(body).toMatchObject({
      trace_id,
      served_by: 'clickhouse',
      fallback_reason: null,
      truncated: false,
      grown: null,
      total: 1,
      next_cursor: null,
      summary: { task_name: 'book a trip', duration_ms: 100, roots: 1, depth_max: 1, marks: {} },
    })
    const [root, , , failed] = body.nodes
    expect(root).toMatchObject({
      parent_id: null,
      start_time: isoFromNs(traceStartNs),
      self_ms: 40,
      gap: { duration_ms: 10 },
      usage: { share: 'aggregate', tokens: { total: 300 } },
      cost: { share: 'aggregate', cost_usd: '0.3' },
      rollup: { observations: 4, calls: 2, errors: 1, tokens: { total: 300 }, cost_usd: '0.3' },
      children: { total: 3, shown: 3, next_cursor: null },
      descendants: 3,
    })
    expect(failed).toMatchObject({
      offset_ms: 60,
      status: 'error',
      details: { error_type: 'rate_limit', error_message: 'slow down, please', model: 'm-1-2026' },
    })
    expect(api.served.at(-1)).toMatchObject({ query_class: 'explorer', store: 'clickhouse' })
  })

  test('orphans, cycles, clocks and late parents are marked', async () => {
    const rows: GivenRow[] = [
      { id: 'root', at: 0, took: 50, service_name: 'web' },
      { id: 'skewed', parent: 'root', at: -30, took: 10, service_name: 'db' },
      { id: 'orphan', parent: 'late', at: 20, took: 5 },
      { id: 'a', parent: 'b', at: 30, took: 5 },
      { id: 'b', parent: 'a', at: 31, took: -2 },
    ]
    const trace_id = await api.store(rows)
    const { body } = await api.get(path(trace_id, 'depth=9'))
    expect(body.summary).toMatchObject({
      roots: 2,
      marks: { synthetic: 1, orphan: 1, cycle: 1, clock_skew: 1, ends_before_start: 1 },
    })
    expect(body.summary.rollup.observations).toBe(5)
    const skewed = body.nodes.find(({ node_id }: Json) => node_id === 'skewed')
    expect(skewed).toMatchObject({ skew_ms: 50, parent_id: 'root', marks: ['clock_skew'] })
    expect(skewed.recorded.start_time).toBe(isoFromNs(traceStartNs - 30_000_000n))
    const recorded = await api.get(path(trace_id, 'depth=9&clocks=recorded'))
    expect(recorded.body.summary.marks).toMatchObject({ outside_parent: 1 })
    const orphan = body.nodes.find(({ node_id }: Json) => node_id === 'orphan')
    expect(orphan).toMatchObject({
      parent_id: `orphans:${trace_id}`,
      missing_parent_id: 'late',
    })
    await api.store([{ id: 'late', parent: 'root', at: 19, took: 8 }], trace_id)
    const grown = await api.get(path(trace_id, 'depth=9'))
    const found = grown.body.nodes.find(({ node_id }: Json) => node_id === 'orphan')
    expect(found).toMatchObject({ parent_id: 'late', missing_parent_id: null, marks: [] })
    expect(grown.body.revision).not.toBe(body.revision)
  })
})

describe('paging', () => {
  const wide = (count: number): GivenRow[] => [
    { id: 'root', at: 0, took: 5000 },
    ...Array.from({ length: count }, (_, at) => ({ id: `c${at}`, parent: 'root', at, took: 1 })),
  ]

  test('walks the children of a node while the trace grows, and reports it', async () => {
    const trace_id = await api.store(wide(7))
    const first = await api.get(path(trace_id, 'children=3'))
    expect(drawn(first.body)).toEqual(['root', ' c0', ' c1', ' c2'])
    const { children } = first.body.nodes[0]
    expect(children).toMatchObject({ total: 7, shown: 3 })
    await api.store(
      [
        { id: 'before', parent: 'root', at: 0, took: 2 },
        { id: 'between', parent: 'root', at: 4, took: 2 },
      ],
      trace_id,
    )
    const seen: string[] = []
    let cursor = children.next_cursor
    for (let pages = 0; pages < 5 && cursor !== null; pages += 1) {
      const { status, body } = await api.get(path(trace_id, `children=3&cursor=${cursor}`))
      expect(status).toBe(200)
      expect(body).toMatchObject({ parent_id: 'root', total: 9, grown: true })
      seen.push(...body.nodes.map(({ node_id }: Json) => node_id))
      cursor = body.next_cursor
    }
    expect(seen).toEqual(['c3', 'between', 'c4', 'c5', 'c6'])
  })

  test('a page has no more nodes than requested, level by level', async () => {
    const rows = ['a', 'b', 'c'].flatMap((id, at): GivenRow[] => [
      { id, at: at * 10, took: 9 },
      { id: `${id}-1`, parent: id, at: at * 10 + 1, took: 1 },
      { id: `${id}-2`, parent: id, at: at * 10 + 2, took: 1 },
    ])
    const trace_id = await api.store(rows)
    const { body } = await api.get(path(trace_id, 'limit=4'))
    expect(drawn(body)).toEqual(['a', ' a-1', 'b', 'c'])
    const rest = await api.get(path(trace_id, `cursor=${body.nodes[0].children.next_cursor}`))
    expect(drawn(rest.body)).toEqual([' a-2'])
    const shallow = await api.get(path(trace_id, 'depth=1&limit=2'))
    expect(drawn(shallow.body)).toEqual(['a', 'b'])
    const below = await api.get(path(trace_id, 'parent=b'))
    expect(drawn(below.body)).toEqual([' b-1', ' b-2'])
    const opened = shallow.body.nodes[0].children.next_cursor
    const inner = await api.get(path(trace_id, `cursor=${opened}`))
    expect(drawn(inner.body)).toEqual([' a-1', ' a-2'])
    const more = await api.get(path(trace_id, `depth=1&cursor=${shallow.body.next_cursor}`))
    expect(drawn(more.body)).toEqual(['c'])
  })

  test('opens an observation at any depth', async () => {
    const rows = [...wide(40), { id: 'deep', parent: 'c30', at: 30, took: 1 }]
    const trace_id = await api.store(rows)
    const { body } = await api.get(path(trace_id, 'open=deep&limit=6&children=2'))
    expect(drawn(body)).toEqual(['root', ' c0', ' c1', ' c30', '  deep'])
    const missing = await api.get(path(trace_id, 'open=nobody'))
    expect(missing).toMatchObject({ status: 404, body: { code: 'observation_not_found' } })
  })
})

describe('results of filters', () => {
  test.each([
    ['name=chat', ['call-1', 'call-2']],
    ['type=tool', ['tool']],
    ['status=error&name=chat', ['call-2']],
    ['q=slow down', ['call-2']],
    ['q=where to', []],
    ['q=where to&search_content=true', ['call-1']],
    ['mark=orphan', []],
    ['parent=agent&type=agent', []],
  ])('%s', async (query, expected) => {
    const trace_id = await api.store(agent)
    const { status, body } = await api.get(path(trace_id, query))
    expect(status).toBe(200)
    expect(body.nodes.map(({ node_id }: Json) => node_id)).toEqual(expected)
    expect(body.total).toBe(expected.length)
    for (const node of body.nodes) expect(node.path).toEqual(['agent'])
  })

  test('are read page by page', async () => {
    const trace_id = await api.store(agent)
    const first = await api.get(path(trace_id, 'name=chat&limit=1'))
    const next = `name=chat&limit=1&cursor=${first.body.next_cursor}`
    const second = await api.get(path(trace_id, next))
    expect(second.body.nodes[0].node_id).toBe('call-2')
    expect(second.body).toMatchObject({ grown: false, next_cursor: null })
    const other = await api.get(path(trace_id, `cursor=${first.body.next_cursor}`))
    expect(other).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })
})

describe('refuses', () => {
  test('traces of others, and missing ones', async () => {
    const trace_id = await api.store(agent)
    const stranger = await api.get(path(trace_id), keyOf(newId(), 'traces:read'))
    expect(stranger).toMatchObject({ status: 404, body: { code: 'trace_not_found' } })
    expect((await api.get(path(newId()))).status).toBe(404)
    const page = await api.get(path(trace_id, 'children=1'))
    const cursor = page.body.nodes[0].children.next_cursor
    const theirs = await api.get(path(newId(), `cursor=${cursor}`))
    expect(theirs.status).toBe(404)
  })

  test.each([
    ['depth=0'],
    ['limit=501'],
    ['children=x'],
    ['type=thing'],
    ['status=bad'],
    ['mark=none'],
    ['clocks=mine'],
    ['q='],
    ['cursor=abc'],
    ['unknown=1'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'],
  ])('%s', async (query) => {
    const trace_id = await api.store(agent)
    expect((await api.get(path(trace_id, query))).status).toBe(400)
  })

  test('callers without permission', async () => {
    const trace_id = newId()
    expect((await api.get(path(trace_id), {})).status).toBe(401)
    expect((await api.get(path(trace_id), keyOf(api.project_id, 'tasks:read'))).status).toBe(403)
    expect((await api.get(path('nonsense'))).status).toBe(400)
    const viewer = await api.get(path(trace_id), tokenOf('viewer', api.project_id))
    expect(viewer.status).toBe(404)
  })
})
