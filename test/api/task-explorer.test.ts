import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { fieldsOfNode, nodesOfOutline, sortNodes, walkTree } from '../support/explorer-walk.ts'
import { insertFinding } from '../support/findings.ts'
import { observationOf } from '../support/observations.ts'
import type { Json } from '../support/query-api.ts'
import { fuzzRuns } from '../support/suite/budget.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import { openTaskExplorerApi, type TaskExplorerApi } from '../support/task-explorer-api.ts'
import type { GivenRow } from '../support/trace-api.ts'
import { anyRows, traceStartNs } from '../support/trace-rows.ts'

const rows_max = 40

let api: TaskExplorerApi
beforeAll(async () => {
  api = await openTaskExplorerApi({ rows_max })
})
afterAll(() => api[Symbol.asyncDispose]())

const ids = ({ nodes }: Json) => nodes.map(({ node_id }: Json) => node_id)
const call = { type: 'generation', name: 'chat', input_uncached_tokens: 5 } as const

describe('the tree of a task', () => {
  test('has the roots of all its traces in order of time, and counts each call once', async () => {
    const task_id = await api.newTask()
    const second = await api.store([
      { id: 'agent', at: 30, took: 20, type: 'agent', task_id },
      {
        ...{ id: 'span', parent: 'agent', at: 31, took: 9, ...call, task_id },
        ...{ cost_usd: '0.5', counted_with: 'proxy' },
      },
      { id: 'other', parent: 'agent', at: 33, took: 1, task_id: 'another task' },
    ])
    const first = await api.store([
      { id: 'proxy', at: 32, took: 7, ...call, cost_usd: '0.25', source: 'proxy', task_id },
      { id: 'begin', at: 0, took: 10, ...call, cost_usd: '0.125', task_id },
    ])
    const { status, body } = await api.explore(task_id)
    expect(status).toBe(200)
    expect(ids(body)).toEqual(['begin', 'agent', 'span', 'proxy'])
    expect(body.nodes.map(({ trace_id }: Json) => trace_id)).toEqual([first, second, second, first])
    expect(body).toMatchObject({
      ...{ view: 'tree', task_id, total: 3, truncated: false, grown: null, next_cursor: null },
      summary: { task_id, traces: 2, roots: 3, duration_ms: 50 },
    })
    expect(body.summary.rollup).toMatchObject({ calls: 2, merged_calls: 1, cost_usd: '0.375' })
    expect(body.nodes[2]).toMatchObject({ counted_with: 'proxy', parent_id: 'agent' })
    const outline = (await api.explore(task_id, 'view=outline')).body
    expect(outline).toMatchObject({
      ...{ view: 'outline', task_id, total: 4, traces: [first, second], trace: [0, 1, 1, 0] },
      ...{ counted_with: [-1, -1, 3, -1], revision: body.revision },
      // From 0 to 10, from 10 to 30 nobody, then the agent, whose span and record are one call.
      on_path: [1, 1, 1, 0],
    })
  })

  test('a parent of another task makes a root, a parent that never arrived an orphan', async () => {
    const task_id = await api.newTask()
    const trace_id = await api.store([
      { id: 'server', at: 0, took: 50, task_id: '' },
      { id: 'agent', parent: 'server', at: 1, took: 40, type: 'agent', task_id },
      { id: 'lost', parent: 'late', at: 5, took: 3, task_id },
    ])
    const { body } = await api.explore(task_id)
    expect(body.nodes).toMatchObject([
      { node_id: 'agent', depth: 0, marks: ['outer_parent'], missing_parent_id: 'server' },
      { node_id: `orphans:${trace_id}`, depth: 0, marks: ['synthetic'] },
      { node_id: 'lost', depth: 1, marks: ['orphan'], missing_parent_id: 'late' },
    ])
    await api.store([{ id: 'late', at: 4, took: 5, task_id: '' }], trace_id)
    const grown = await api.explore(task_id)
    expect(ids(grown.body)).toEqual(['agent', 'lost'])
    expect(grown.body.revision).not.toBe(body.revision)
  })

  test('is that of an implicit task, by either spelling of its trace', async () => {
    const trace_id = newId()
    await api.newTask({ task_id: trace_id, implicit: true })
    await api.store([{ id: 'only', at: 0, took: 1, task_id: trace_id }], trace_id)
    const { body } = await api.explore(trace_id.replaceAll('-', ''))
    expect([body.task_id, ids(body)]).toEqual([trace_id, ['only']])
  })

  test('is empty before the first row', async () => {
    const { status, body } = await api.explore(await api.newTask())
    expect([status, body.nodes, body.total]).toEqual([200, [], 0])
    const outline = await api.explore(await api.newTask(), 'view=outline')
    expect(outline.body).toMatchObject({ ids: [], on_path: [], traces: [], trace: null, total: 0 })
  })

  test('finds text, and one observation of an id that several traces have', async () => {
    const task_id = await api.newTask()
    const rows: GivenRow[] = [
      { id: 'root', at: 0, took: 9, task_id },
      { id: 'step', parent: 'root', at: 1, took: 2, task_id },
    ]
    const one = await api.store(rows)
    const late = rows.map((row) => ({ ...row, at: row.at + 20 }))
    const other = await api.store(late.map((row) => ({ ...row, error_message: `in ${row.id}` })))
    const found = await api.explore(task_id, 'q=in step')
    expect(found.body.nodes).toMatchObject([{ node_id: 'step', trace_id: other }])
    expect(found.body.nodes[0].details.error_message).toBe('in step')
    const byName = await api.explore(task_id, 'name=step')
    expect(byName.body.nodes.map(({ trace_id }: Json) => trace_id)).toEqual([one, other])
    const opened = await api.explore(task_id, `open=step&limit=3&trace_id=${other}`)
    expect(opened.body.nodes).toMatchObject([
      { node_id: 'root', trace_id: one },
      { node_id: 'root', trace_id: other },
      { node_id: 'step', trace_id: other },
    ])
    const below = await api.explore(task_id, `parent=root&trace_id=${other}`)
    expect(below.body.nodes).toMatchObject([{ node_id: 'step', trace_id: other }])
    const nowhere = await api.explore(task_id, `parent=root&trace_id=${newId()}`)
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 'observation_not_found'])
  })

  test('points findings of the task to their nodes', async () => {
    const task_id = await api.newTask()
    const trace_id = await api.store([{ id: 'a', at: 0, took: 9, task_id }])
    const places = [{ trace_id, observation_id: 'a' }]
    const of = { project_id: api.project_id, task_id }
    const finding_id = await insertFinding(api.relational.db, { ...of, places })
    const { body } = await api.explore(task_id, 'view=outline')
    expect(body.findings).toMatchObject([{ finding_id, nodes: [0], task_id }])
  })
})

describe('pages of a task', () => {
  test('neither shift nor repeat when rows of old and new traces arrive late', async () => {
    const task_id = await api.newTask()
    const rootAt = (at: number): GivenRow => ({ id: `r${at}`, at, took: 1, task_id })
    for (const at of [10, 20, 30, 40]) await api.store([rootAt(at)])
    const first = await api.explore(task_id, 'limit=2')
    expect(ids(first.body)).toEqual(['r10', 'r20'])
    await api.store([rootAt(5), rootAt(25)])
    await api.store([rootAt(20)])
    const seen: string[] = []
    let { next_cursor } = first.body
    while (next_cursor !== null) {
      const { body } = await api.explore(task_id, `limit=2&cursor=${next_cursor}`)
      expect(body).toMatchObject({ grown: true, total: 7, parent_id: null })
      seen.push(...ids(body))
      next_cursor = body.next_cursor
    }
    // The second r20 has the same start and id, in a later trace.
    expect(seen).toEqual(['r20', 'r25', 'r30', 'r40'])
  })

  test('have the same nodes as the outline, for any rows of up to three traces', async () => {
    const forest = fc.tuple(anyRows, anyRows, fc.array(fc.nat({ max: 2 }), { minLength: 28 }))
    await fc.assert(
      fc.asyncProperty(forest, async ([one, other, places]) => {
        const task_id = await api.newTask()
        const traces = [newId(), newId(), newId()]
        // By key: of two rows with one key and one message a store may show either.
        const rows = new Map<string, Observation>()
        for (const [at, row] of [...one, ...other].entries()) {
          const trace_id = traces[places[at] ?? 0] ?? ''
          const given = { ...row, project_id: api.project_id, task_id, trace_id }
          const { observation_id, start_time } = row
          rows.set(`${trace_id} ${start_time} ${observation_id}`, observationOf(given))
        }
        await api.insert([...rows.values()])
        const { body } = await api.explore(task_id, 'view=outline')
        const walked = await walkTree((query) => api.explore(task_id, query))
        expect(sortNodes(nodesOfOutline(body))).toEqual(sortNodes(walked.map(fieldsOfNode)))
        expect(body.summary.rollup.observations).toBe(body.total)
      }),
      // Ends before the test does, so that a failure is reported even if it can't be shrunk in time.
      { numRuns: fuzzRuns(40), interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true },
    )
  })
})

test('above the limit both forms say so, and the outline how many there are', async () => {
  const task_id = await api.newTask()
  const many = (trace: number): GivenRow[] =>
    Array.from({ length: 25 }, (_, at) => ({ id: `n${at}`, at: at * 2 + trace, took: 1, task_id }))
  for (const trace of [0, 1]) await api.store(many(trace))
  const { body } = await api.explore(task_id, 'view=outline')
  expect(body).toMatchObject({ truncated: true, total: 50 })
  expect(body.ids).toHaveLength(rows_max)
  expect((await api.explore(task_id)).body.truncated).toBe(true)
  const from = isoFromNs(traceStartNs + 40_000_000n)
  const rest = await api.explore(task_id, `view=outline&from=${from}`)
  expect(rest.body).toMatchObject({ truncated: false, total: 10 })
})

describe('refuses', () => {
  test('tasks of others, missing ones, and cursors of another task', async () => {
    const task_id = await api.newTask()
    await api.store([
      { id: 'a', at: 0, took: 1, task_id },
      { id: 'b', at: 1, took: 1, task_id },
    ])
    const stranger = newId()
    const hidden = await api.explore(task_id, '', keyOf(stranger))
    expect([hidden.status, hidden.body.code]).toEqual([404, 'task_not_found'])
    await api.newTask({ task_id, project_id: stranger })
    const theirs = await api.explore(task_id, 'view=outline', keyOf(stranger))
    expect(theirs.body).toMatchObject({ ids: [], total: 0 })
    expect((await api.explore('nothing')).body.code).toBe('task_not_found')
    const { next_cursor } = (await api.explore(task_id, 'limit=1')).body
    const other = await api.explore(await api.newTask(), `cursor=${next_cursor}`)
    expect([other.status, other.body.code]).toEqual([400, 'invalid_cursor'])
  })

  test.each([
    ...['depth=0', 'limit=501', 'type=thing', 'mark=none', 'view=all', 'cursor=abc', 'more=1'],
    ...['trace_id=x', `trace_id=${newId()}`, 'view=outline&q=a', 'view=outline&open=a'],
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
  ])('%s', async (query) => {
    expect((await api.explore(await api.newTask(), query)).status).toBe(400)
  })

  test('callers without permission', async () => {
    const task_id = await api.newTask()
    expect((await api.explore(task_id, '', {})).status).toBe(401)
    expect((await api.explore(task_id, '', keyOf(api.project_id, 'traces:read'))).status).toBe(403)
    expect((await api.explore(task_id, '', tokenOf('viewer', api.project_id))).status).toBe(200)
    expect((await api.explore(task_id, '', tokenOf('viewer'))).status).toBe(400)
  })
})
