import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ColumnarServer, openColumnar } from '../../src/platform/columnar/index.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { insertMany } from '../support/many-observations.ts'
import { observationOf } from '../support/observations.ts'
import { openQueryApi, type QueryApi, type QueryApiOptions } from '../support/query-api.ts'
import { budget } from '../support/suite/budget.ts'
import { tcpGate } from '../support/tcp-gate.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const rows = budget({ test: 1_000_000, soak: 1_500_000 })
/** Takes seconds: every record is a separate group. */
const heavy = {
  entity: 'observations',
  window,
  measures: [
    { fn: 'p95', field: 'duration_ms', as: 'p95' },
    { fn: 'count_distinct', field: 'name', as: 'names' },
  ],
  group_by: ['observation_id', 'name'],
}
const counted = { entity: 'observations', window, measures: [{ fn: 'count', as: 'n' }] }

let database: Awaited<ReturnType<typeof testClickHouse>>
let project_id: string

beforeAll(async () => {
  // Merged as a whole, and with many rows.
  database = await testClickHouse('own')
  const columnar = await migratedClickHouse(database)
  project_id = '0198c0de-0000-7000-8000-0000000000aa'
  await insertMany(columnar, { project_id, rows })
  // One part, as after merges: a page reads some granules of each part.
  await columnar.command('OPTIMIZE TABLE observations FINAL', {}, { timeout_ms: 60_000 })
  await columnar.close()
}, 120_000)

const opened: QueryApi[] = []
async function apiWith(options: QueryApiOptions = {}) {
  const columnar = openColumnar(columnarOptions(database))
  const api = await openQueryApi({ columnar, project_id, ...options })
  opened.push(api)
  return api
}
afterAll(() => Promise.all(opened.map((api) => api[Symbol.asyncDispose]())))

describe('over a limit', () => {
  test.each([
    ['query_rows_read_max', 100_000, counted],
    ['query_bytes_read_max', 1_000_000, heavy],
    ['query_memory_bytes_max', 8_000_000, heavy],
    ['query_time_ms_max', 100, heavy],
  ])('%s the answer is 400 with what it would have read', async (name, value, body) => {
    const api = await apiWith({ settings: { [name]: value } })
    const reply = await api.call('query/aggregate', body)
    expect(reply.body).toMatchObject({
      status: 400,
      code: 'query_too_expensive',
      detail: expect.stringContaining(value.toLocaleString('en-US')),
      estimate: { limit: name, limit_value: value },
    })
    expect(reply.body.estimate.rows).toBeGreaterThan(rows / 3)
    expect(reply.body.estimate.rows).toBeLessThan(rows * 3)
    expect(reply.body.estimate.bytes).toBeGreaterThan(0)
    expect(api.served).toMatchObject([{ failed: 'query_too_expensive', store: 'clickhouse' }])
  })

  test('rows of the answer are refused before a store is asked', async () => {
    const api = await apiWith({ settings: { query_result_rows_max: 10 } })
    const reply = await api.call('query', { entity: 'observations', window, limit: 11 })
    expect(reply.body).toMatchObject({
      code: 'query_too_expensive',
      estimate: { limit: 'query_result_rows_max', rows: null },
    })
    expect(api.served).toEqual([])
    const asked = { entity: 'observations', window, limit: 11 }
    const { warnings } = (await api.call('query/explain', asked)).body
    const detail = 'the query would be refused: it exceeds query_result_rows_max'
    expect(warnings).toContainEqual({ code: 'over_limit', detail })
  })

  test('of rows a page in order is allowed, because it stops when it is full', async () => {
    const api = await apiWith({ settings: { query_rows_read_max: 100_000 } })
    const { status, body } = await api.call('query', { entity: 'observations', window, limit: 20 })
    expect([status, body.rows.length]).toEqual([200, 20])
    expect(body.stats.rows_read).toBeLessThan(rows / 3)
  })

  test('of time PostgreSQL cancels it', async () => {
    const api = await apiWith({ settings: { query_time_ms_max: 200 } })
    await withLockedTasks(api, async () => {
      const { status, body } = await api.call('query', { entity: 'tasks', window })
      expect([status, body.code]).toEqual([400, 'query_too_expensive'])
      expect(body.estimate).toMatchObject({ limit: 'query_time_ms_max', rows: null })
    })
  })
})

describe('a client that disconnects', () => {
  test('stops its statement in ClickHouse', async () => {
    const api = await apiWith()
    const leaving = new AbortController()
    const running = () => runningInClickHouse(api.columnar)
    const left = api.call('query/aggregate', heavy, { signal: leaving.signal })
    await eventually('it runs', async () => (await running()) === 1)
    leaving.abort()
    await expect(left).rejects.toThrow('abort')
    await eventually('it is gone', async () => (await running()) === 0)
    await eventually('it is reported', () => api.served.length === 1)
    expect(api.served).toMatchObject([{ failed: 'client_left' }])
  })

  test('stops its statement in PostgreSQL', async () => {
    const api = await apiWith()
    await withLockedTasks(api, async () => {
      const leaving = new AbortController()
      const running = () => runningInPostgres(api)
      const left = api.call('query', { entity: 'tasks', window }, { signal: leaving.signal })
      await eventually('it runs', async () => (await running()) === 1)
      leaving.abort()
      await expect(left).rejects.toThrow('abort')
      await eventually('it is gone', async () => (await running()) === 0)
    })
    // The connections can be used afterwards.
    expect((await api.call('query', { entity: 'tasks', window })).status).toBe(200)
  })
})

describe('more queries of a project than allowed', () => {
  test('wait for a slot, and are refused after a while', async () => {
    const slots = { running_max: 1, waiting_max: 1, wait_ms_max: 300 }
    const api = await apiWith({ slots })
    await withLockedTasks(api, async () => {
      const leaving = new AbortController()
      const about = { signal: leaving.signal }
      const first = api.call('query', { entity: 'tasks', window }, about).catch(() => undefined)
      await eventually('it runs', async () => (await runningInPostgres(api)) === 1)
      const [one, other] = await Promise.all([
        api.call('query', { entity: 'observations', window }),
        api.call('query', { entity: 'observations', window }),
      ])
      expect([one.status, other.status]).toEqual([429, 429])
      expect(one.body.code).toBe('rate_limited')
      expect(one.headers.get('retry-after')).toBe('1')
      // Another project is not delayed.
      const elsewhere = {
        headers: { 'x-api-key': 'lt_0198c0de-0000-7000-8000-0000000000bb query:run' },
      }
      const query = { entity: 'observations', window }
      expect((await api.call('query', query, elsewhere)).status).toBe(200)
      leaving.abort()
      await first
      await eventually('there is room', async () => (await api.call('query', query)).status === 200)
    })
  })
})

describe('an unavailable store', () => {
  test('is named, and nothing is answered', async () => {
    await using gate = await tcpGate(database.url)
    const columnar = openColumnar({ ...columnarOptions(database), url: gate.url })
    const api = await apiWith({ columnar })
    gate.close()
    const reply = await api.call('query', { entity: 'observations', window })
    expect(reply.body).toMatchObject({
      status: 503,
      code: 'store_unavailable',
      store: 'clickhouse',
    })
    expect(reply.body.detail).toContain('ClickHouse')
    expect((await api.call('query', { entity: 'tasks', window })).status).toBe(200)
  })

  test('in the middle of an answer leaves none, and the next store may answer', async () => {
    await using gate = await tcpGate(database.url)
    const columnar = openColumnar({ ...columnarOptions(database), url: gate.url })
    const api = await apiWith({
      columnar,
      chooseStore: async () => ({
        candidates: [],
        order: ['clickhouse', 'postgres'],
        fallback: true,
      }),
    })
    const asked = api.call('query/aggregate', { ...heavy, limit: 10_000 })
    const direct = openColumnar(columnarOptions(database))
    await eventually('it runs', async () => (await runningInClickHouse(direct)) === 1)
    await direct.close()
    gate.close()
    const { status, body } = await asked
    expect([status, body.served_by]).toEqual([200, 'postgres'])
    expect(body.fallback_reason).toBe('ClickHouse is unavailable')
    expect(api.served).toMatchObject([
      { store: 'clickhouse', failed: 'store_unavailable' },
      { store: 'postgres', failed: null, fallback_reason: 'ClickHouse is unavailable' },
    ])
  })
})

test('served queries are counted and reported', async () => {
  const api = await apiWith()
  await api.insert([observationOf({ project_id })])
  await api.call('query/aggregate', counted)
  await api.call('query', { entity: 'observations', window, where: byTrace })
  expect(api.served).toMatchObject([
    { project_id, query_class: 'aggregate', store: 'clickhouse', failed: null },
    { project_id, query_class: 'point', fallback_reason: null, query: { kind: 'query' } },
  ])
  expect(api.served[0]?.rows_read).toBeGreaterThan(0)
  const { body } = await api.metrics.expose()
  expect(body).toContain(
    'looptrace_query_total{class="aggregate",store="clickhouse",outcome="ok"} 1',
  )
  expect(body).toMatch(
    /looptrace_query_rows_read_total\{class="aggregate",store="clickhouse"\} \d+/,
  )
})

const byTrace = { field: 'trace_id', op: 'eq', value: '0198c0de-0000-7000-8000-000000000001' }

/** While another transaction locks the table, its readers wait. */
async function withLockedTasks(api: QueryApi, work: () => Promise<void>): Promise<void> {
  const client = await api.relational.pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table tasks in access exclusive mode')
    await work()
  } finally {
    await client.query('rollback')
    client.release()
  }
}

async function runningInClickHouse(columnar: ColumnarServer): Promise<number> {
  const found = await columnar.query<{ n: string }>(
    `SELECT count() AS n FROM system.processes
    WHERE current_database = currentDatabase() AND query LIKE '%quantileExact%' AND query NOT LIKE '%system.processes%'`,
  )
  return Number(found[0]?.n)
}

async function runningInPostgres({ relational }: QueryApi): Promise<number> {
  const found = await relational.pool.query(
    `select 1 from pg_stat_activity
    where application_name like 'looptrace query %' and state = 'active'`,
  )
  return found.rows.length
}
