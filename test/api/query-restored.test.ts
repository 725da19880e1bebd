import { afterAll, beforeAll, expect, test } from 'vitest'
import { readySlices } from '../../src/capabilities/lifecycle/archive/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type ArchiveDesk,
  daysFrom,
  folderBlobs,
  openArchiveDesk,
  writeRecords,
} from '../support/archives.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { keyOf } from '../support/task-api.ts'

const project_id = newId()
const window = daysFrom(3)
let desk: ArchiveDesk
let api: QueryApi
let now_ms = Date.now()

beforeAll(async () => {
  desk = await openArchiveDesk(await folderBlobs())
  await writeRecords(desk.columnar, { project_id, days: 3, each: 20 })
  const archive = await desk.archive(project_id)
  // The first day was deleted, the second and third are live.
  for (const kind of ['observations', 'traces', 'events', 'links', 'correlations']) {
    const time = kind === 'observations' ? 'start_time' : 'time'
    await desk.columnar.command(
      `DELETE FROM ${kind} WHERE project_id = {project:UUID} AND toDate(${time}) = '2026-09-21'`,
      { project: project_id },
    )
  }
  expect((await desk.restore(archive)).job.state).toBe('succeeded')
  api = await openQueryApi({
    ...{ project_id, columnar: desk.columnar },
    restoredSlices: (project) =>
      readySlices(desk.db, { project_id: project, now: new Date(now_ms) }),
  })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await desk.close()
})

const count = { measures: [{ fn: 'count', as: 'n' }] }
const counted = async (entity: string, more: object = {}) => {
  const body = { entity, window, ...count, ...more }
  const reply = await api.call('query/aggregate', body)
  expect(reply.status).toBe(200)
  return { n: reply.body.rows[0].n, served_by: reply.body.served_by }
}

test.each(['observations', 'events', 'links', 'correlations', 'traces'])(
  'of %s live, restored and duplicated ones count once',
  async (entity) => {
    expect((await counted(entity)).n).toBe(40)
    expect(await counted(entity, { include_restored: true })).toEqual({
      n: 60,
      served_by: 'clickhouse',
    })
  },
)

test('pages have each record once, with content, in order', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const reply = await api.call('query', {
      entity: 'observations',
      window,
      select: ['observation_id', 'input', 'attributes'],
      include_restored: true,
      limit: 7,
      ...(cursor && { cursor }),
    })
    expect(reply.status).toBe(200)
    for (const row of reply.body.rows) {
      seen.push(row.observation_id)
      expect(row.input).toContain(`what is ${row.observation_id.slice(4)}?`)
      expect(row.attributes.n).toBe(row.observation_id.slice(4))
    }
    cursor = reply.body.next_cursor ?? undefined
  } while (cursor !== undefined)
  expect(seen).toHaveLength(60)
  expect(new Set(seen).size).toBe(60)
})

test('a version that was written after the archive is the one that counts', async () => {
  const asked = {
    entity: 'observations',
    window,
    include_restored: true,
    select: ['name', 'duration_ms'],
    where: { field: 'observation_id', op: 'eq', value: 'obs-1' },
  }
  const { rows } = (await api.call('query', asked)).body
  expect(rows).toEqual([{ name: 'chat m-1', duration_ms: expect.any(Number) }])
  const { body } = await api.call('query', {
    ...asked,
    select: ['trace_id', 'start_time'],
  })
  const [{ trace_id, start_time }] = body.rows
  await desk.columnar.command(
    `INSERT INTO observations SELECT * REPLACE ('corrected' AS name, now64(3) AS ingested_at)
     FROM observations WHERE project_id = {project:UUID} AND observation_id = 'obs-1'
     ORDER BY ingested_at DESC LIMIT 1`,
    { project: project_id },
  )
  expect((await api.call('query', asked)).body.rows).toMatchObject([{ name: 'corrected' }])
  expect(trace_id).toBeDefined()
  expect(start_time).toContain('2026-09-22')
})

test('filters on indexed and other fields find restored rows', async () => {
  const one = await api.call('query', {
    entity: 'observations',
    window,
    include_restored: true,
    where: {
      and: [
        { field: 'task_id', op: 'eq', value: 'task-1' },
        { field: 'attributes.n', op: 'eq', value: '0' },
      ],
    },
    select: ['observation_id', 'output'],
    order_by: [{ field: 'cost_usd', direction: 'desc' }],
  })
  expect(one.body.rows).toMatchObject([{ observation_id: 'obs-0' }])
  const value = await api.call('query', {
    entity: 'correlations',
    window,
    include_restored: true,
    where: { field: 'correlation_value', op: 'eq', value: 'value-0' },
  })
  expect(value.body.rows).toHaveLength(1)
  const traces = await api.call('query', {
    entity: 'traces',
    window,
    include_restored: true,
    select: ['trace_id', 'name', 'user_id', 'observations'],
    order_by: [{ field: 'start_time', direction: 'asc' }],
    limit: 1,
  })
  expect(traces.body.rows).toMatchObject([{ name: 'a trace', user_id: 'user-0', observations: 1 }])
})

test("another project's slices are not seen, nor are expired ones", async () => {
  const headers = keyOf(newId(), 'query:run')
  const body = { entity: 'observations', window, include_restored: true, ...count }
  const foreign = await api.call('query/aggregate', body, { headers })
  expect(foreign.body.rows[0].n).toBe(0)
  now_ms += 3 * 3_600_000
  expect((await counted('observations', { include_restored: true })).n).toBe(40)
  now_ms = Date.now()
})

test('explain reports that only ClickHouse has restored rows, and no tasks', async () => {
  const body = { entity: 'observations', window, include_restored: true }
  const explained = await api.call('query/explain', body)
  expect(explained).toMatchObject({
    status: 200,
    body: { store: { chosen: 'clickhouse' }, query: { include_restored: true } },
  })
  expect(explained.body.statement.text).toContain('restored_observations')
  const tasks = await api.call('query', { entity: 'tasks', window, include_restored: true })
  expect(tasks).toMatchObject({ status: 400, body: { errors: [{ pointer: '/include_restored' }] } })
})
