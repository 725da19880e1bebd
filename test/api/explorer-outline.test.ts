import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findingsOfTasks } from '../../src/capabilities/detection/index.ts'
import { catalogue } from '../../src/capabilities/query/language/catalogue.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { fieldsOfNode, nodesOfOutline, sortNodes, walkTree } from '../support/explorer-walk.ts'
import { insertFinding } from '../support/findings.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import { type GivenRow, openTraceApi, type TraceApi } from '../support/trace-api.ts'
import { traceStartNs } from '../support/trace-rows.ts'

const rows_max = 12

let api: TraceApi
beforeAll(async () => {
  api = await openTraceApi({ rows_max })
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (trace_id: string, query = 'view=outline') => `traces/${trace_id}/explorer?${query}`

const task_id = `task ${newId()}`
const call = { type: 'generation', name: 'chat', task_id } as const
const rows: GivenRow[] = [
  { id: 'agent', at: 0, took: 100, type: 'agent', name: 'planner', task_id },
  {
    ...{ id: 'span', parent: 'agent', at: 10, took: 20, ...call, counted_with: 'proxy' },
    ...{ input_uncached_tokens: 7, cost_usd: '0.5' },
  },
  {
    ...{ id: 'proxy', parent: 'span', at: 11, took: 18, ...call, source: 'proxy' },
    ...{ input_uncached_tokens: 7, cost_usd: '0.25' },
  },
  { id: 'tool', parent: 'agent', at: 40, took: 10, type: 'tool', status: 'error', task_id },
  { id: 'bare', parent: 'agent', at: 70, took: 30, ...call, input: 'a secret prompt' },
  { id: 'lost', parent: 'gone', at: 20, took: 5, task_id },
]

describe('an outline', () => {
  test('has columns of all nodes, depth first, without contents', async () => {
    const trace_id = await api.store(rows)
    const { status, body } = await api.get(path(trace_id))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ view: 'outline', trace_id, truncated: false, total: 6, served_by: 'clickhouse' },
      origin_time: isoFromNs(traceStartNs),
      ids: ['agent', 'span', 'proxy', 'tool', 'bare', `orphans:${trace_id}`, 'lost'],
      parent: [-1, 0, 1, 0, 0, -1, 5],
      start_us: [0, 10_000, 11_000, 40_000, 70_000, 20_000, 20_000],
      dur_us: [100_000, 20_000, 18_000, 10_000, 30_000, 5_000, 5_000],
      tokens: [7, 7, 7, null, null, null, null],
      cost_usd: ['0.25', '0.25', '0.25', null, null, null, null],
      counted_with: [-1, 2, -1, -1, -1, -1, -1],
      on_path: [1, 1, 1, 1, 1, 0, 0],
      ...{ trace: null, traces: [trace_id], findings: [], findings_total: 0 },
      summary: { duration_ms: 100, roots: 2, traces: 1, rollup: { calls: 2, cost_usd: '0.25' } },
    })
    expect(JSON.stringify(body)).not.toContain('secret')
    const { revision } = (await api.get(path(trace_id, ''))).body
    expect(body.revision).toBe(revision)
  })

  test('has the same nodes as the pages of the tree', async () => {
    const trace_id = await api.store(rows)
    const { body } = await api.get(path(trace_id))
    const walked = await walkTree((query) => api.get(path(trace_id, query)))
    expect(sortNodes(nodesOfOutline(body))).toEqual(sortNodes(walked.map(fieldsOfNode)))
    const recorded = await api.get(path(trace_id, 'view=outline&clocks=recorded'))
    expect(recorded.body.ids).toEqual(body.ids)
  })

  test('points findings to the nodes of their evidence', async () => {
    const trace_id = await api.store(rows)
    const stranger = newId()
    await api.insertTask({ task_id })
    await api.insertTask({ task_id, project_id: stranger })
    const of = { project_id: api.project_id, task_id }
    const place = (observation_id: string) => ({ trace_id, observation_id })
    const { db } = api.relational
    const loop = await insertFinding(db, { ...of, places: [place('bare'), place('tool')] })
    await insertFinding(db, { ...of, state: 'withdrawn', places: [place('tool')] })
    const elsewhere = { trace_id: newId(), observation_id: 'tool' }
    await insertFinding(db, { ...of, places: [elsewhere] })
    const theirs = { ...of, project_id: stranger, places: [place('tool')] }
    const hidden = await insertFinding(db, theirs)
    // Outside of a request, only the statement itself keeps tenants apart.
    const own = await findingsOfTasks(db, { ...of, task_ids: [task_id] })
    expect(own).toHaveLength(3)
    expect(own.map(({ finding_id }) => finding_id)).not.toContain(hidden)
    const { body } = await api.get(path(trace_id))
    expect(body.findings).toEqual([
      {
        ...{ finding_id: loop, task_id, kind: 'loop', type: 'repeat_call', severity: 'high' },
        ...{ state: 'open', summary: 'The same call again', nodes: [4, 3] },
      },
    ])
    expect(body.findings_total).toBe(1)
    const { nodes } = (await api.get(path(trace_id, 'depth=5'))).body
    const marksOf = (id: string) => {
      const found = nodes.find((node: { node_id: string }) => node.node_id === id)
      return [found.step, found.step_number, found.findings]
    }
    const steps = own.find(({ finding_id }) => finding_id === loop)
    const [first, ...others] = steps?.places ?? []
    const start = steps?.start_step ?? null
    expect(marksOf(first?.observation_id ?? '')).toEqual([
      ...[start, start === null ? null : start + 1],
      [loop],
    ])
    for (const { observation_id } of others.slice(0, 1)) {
      expect(marksOf(observation_id)[2]).toEqual([loop])
    }
    expect(marksOf('lost')).toEqual([null, null, []])
  })

  test('shows of a finding what the query language shows to the same key, without its evidence', async () => {
    const own = `task ${newId()}`
    const trace_id = await api.store([{ id: 'tool', at: 0, took: 1, type: 'tool', task_id: own }])
    await api.insertTask({ task_id: own })
    const { project_id, relational } = api
    const places = [{ trace_id, observation_id: 'tool' }]
    const evidence = JSON.stringify({ quote: 'a secret quote' })
    await insertFinding(relational.db, { project_id, task_id: own, evidence, places })
    const { body } = await api.get(path(trace_id), keyOf(project_id, 'traces:read'))
    const [finding] = body.findings as object[]
    const shown = ['finding_id', 'task_id', 'kind', 'type', 'severity', 'state', 'summary', 'nodes']
    expect(Object.keys(finding ?? {}).sort()).toEqual(shown.sort())
    expect(JSON.stringify(body)).not.toContain('secret quote')
    const names = Object.keys(catalogue.findings.fields)
    expect(shown.filter((name) => name !== 'nodes' && !names.includes(name))).toEqual([])
  })

  test('of a late parent changes with the tree', async () => {
    const trace_id = await api.store(rows)
    const before = await api.get(path(trace_id))
    await api.store([{ id: 'gone', parent: 'agent', at: 19, took: 8 }], trace_id)
    const after = await api.get(path(trace_id))
    expect(after.body.revision).not.toBe(before.body.revision)
    expect(after.body.ids).toEqual(['agent', 'span', 'proxy', 'gone', 'lost', 'tool', 'bare'])
    expect(after.body.total).toBe(7)
  })
})

describe('above the limit of observations', () => {
  const many = (count: number): GivenRow[] =>
    Array.from({ length: count }, (_, at) => ({ id: `n${at}`, at, took: 1 }))

  test('an outline says so, and how many there are', async () => {
    const trace_id = await api.store(many(rows_max + 3))
    const { body } = await api.get(path(trace_id))
    expect(body).toMatchObject({ truncated: true, total: rows_max + 3 })
    expect(body.ids).toEqual(many(rows_max).map(({ id }) => id))
    const from = isoFromNs(traceStartNs + BigInt(rows_max) * 1_000_000n)
    const rest = await api.get(path(trace_id, `view=outline&from=${from}`))
    expect(rest.body).toMatchObject({ truncated: false, total: 3 })
  })

  test('an outline of exactly as many is whole', async () => {
    const trace_id = await api.store(many(rows_max))
    const { body } = await api.get(path(trace_id))
    expect(body).toMatchObject({ truncated: false, total: rows_max })
    expect(body.ids).toHaveLength(rows_max)
  })
})

describe('refuses', () => {
  const selecting = ['parent=a', 'open=a', 'cursor=a', 'name=a', 'type=tool', 'status=ok']
  test.each([...selecting, 'mark=orphan', 'q=a', 'search_content=true'])(
    'an outline with %s, and names it',
    async (query) => {
      const { status, body } = await api.get(path(newId(), `view=outline&${query}`))
      const [name] = query.split('=')
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.errors).toMatchObject([{ pointer: `query.${name}` }])
    },
  )

  test('unknown views, other tenants and callers without permission', async () => {
    const trace_id = await api.store(rows)
    expect((await api.get(path(trace_id, 'view=rows'))).status).toBe(400)
    const stranger = await api.get(path(trace_id), keyOf(newId(), 'traces:read'))
    expect([stranger.status, stranger.body.code]).toEqual([404, 'trace_not_found'])
    expect((await api.get(path(trace_id), {})).status).toBe(401)
    expect((await api.get(path(trace_id), keyOf(api.project_id, 'tasks:read'))).status).toBe(403)
    const viewer = await api.get(path(trace_id), tokenOf('viewer', api.project_id))
    expect(viewer.status).toBe(200)
  })
})
