import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type ColumnarServer, openColumnar } from '../../src/platform/columnar/index.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { insertMany } from '../support/many-observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { openQueryApi, type QueryApi, type QueryApiOptions } from '../support/query-api.ts'
import { tcpGate } from '../support/tcp-gate.ts'

const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T16:00:00Z' }
const counted = { entity: 'observations', window, measures: [{ fn: 'count', as: 'n' }] }
const project_id = newId()
let database: Awaited<ReturnType<typeof testClickHouse>>
const opened: QueryApi[] = []

beforeAll(async () => {
  database = await testClickHouse('own')
  const columnar = await migratedClickHouse(database)
  await insertMany(columnar, { project_id, rows: 40_000 })
  await columnar.close()
})
afterAll(() => Promise.all(opened.map((api) => api[Symbol.asyncDispose]())))

/**
 * A ClickHouse that takes eight seconds for 40,000 rows; when `late`, it ignores time limits too.
 * Its statements have a name, so that tests at the same time find their own.
 */
function slowClickHouse(url: string, name: string, { late = false } = {}): ColumnarServer {
  const columnar = openColumnar({ ...columnarOptions(database), url })
  const ofProject: ColumnarServer['ofProject'] = (project) => {
    const scoped = columnar.ofProject(project)
    return {
      ...scoped,
      read: (sql, params, about = {}) => {
        const settings = {
          ...about.settings,
          max_threads: 1,
          max_block_size: 500,
          ...(late && endless),
        }
        const slow = sql.replace('count(*)', `sum(1 + sleepEachRow(0.0002) * length('${name}'))`)
        return scoped.read(slow, params, { ...about, settings })
      },
    }
  }
  return { ...columnar, ofProject }
}

const endless = { max_execution_time: 60 }

/** Both stores may answer, the first one first. */
async function apiWith(
  order: ('clickhouse' | 'postgres')[],
  time_ms: number,
  options: QueryApiOptions = {},
) {
  const api = await openQueryApi({
    columnar: openColumnar(columnarOptions(database)),
    project_id,
    settings: { query_time_ms_max: time_ms },
    chooseStore: async () => ({ candidates: [], order, fallback: true }),
    ...options,
  })
  opened.push(api)
  return api
}

const tooExpensive = {
  status: 400,
  code: 'query_too_expensive',
  detail: expect.stringContaining('shorter window or more filters'),
  estimate: { limit: 'query_time_ms_max' },
}

describe('the time limit of a query', () => {
  test('ends it on a ClickHouse that is late, and no other store is asked', async () => {
    const columnar = slowClickHouse(database.url, 'late', { late: true })
    const api = await apiWith(['clickhouse', 'postgres'], 300, { columnar })
    const asked = api.call('query/aggregate', counted)
    await eventually('it runs', async () => (await statementsOf(api.columnar, 'late')) === 1)
    const { body } = await asked
    expect(body).toMatchObject({ ...tooExpensive, estimate: { limit_value: 300 } })
    expect(body.estimate.rows).toBeGreaterThan(10_000)
    expect(api.served).toMatchObject([{ store: 'clickhouse', failed: 'query_too_expensive' }])
    await eventually('it is gone', async () => (await statementsOf(api.columnar, 'late')) === 0)
  })

  test('is not used up by waiting for a connection', async () => {
    const columnar = slowClickHouse(database.url, 'queued')
    const api = await apiWith(['clickhouse', 'postgres'], 1_000, {
      columnar,
      settings: { query_time_ms_max: 1_000 },
      slots: { running_max: 12 },
    })
    // More than there are connections, and than the embedded engine runs.
    const asked = Array.from({ length: 12 }, () => api.call('query/aggregate', counted))
    const replies = await Promise.all(asked)
    expect(new Set(replies.map(({ body }) => body.code))).toEqual(new Set(['query_too_expensive']))
    expect(new Set(api.served.map(({ store }) => store))).toEqual(new Set(['clickhouse']))
  })

  test('ends it on a PostgreSQL that is late, and no other store is asked', async () => {
    const api = await apiWith(['postgres', 'clickhouse'], 300)
    await withLockedRows(api, async () => {
      const asked = api.call('query/aggregate', counted)
      const pid = await eventually('it runs', () => backendOf(api))
      // A stopped process ignores time limits.
      process.kill(pid, 'SIGSTOP')
      try {
        expect((await asked).body).toMatchObject(tooExpensive)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await eventually('it is cancelled', async () => (await backendOf(api)) === undefined)
    })
    expect(api.served).toMatchObject([{ store: 'postgres', failed: 'query_too_expensive' }])
  })
})

// Most of the time they wait.
describe.concurrent('a store that does not answer', () => {
  test.each(['stall', 'halfOpen'] as const)(
    'ClickHouse, by %s: the other one does',
    async (how) => {
      await using gate = await tcpGate(database.url)
      const columnar = slowClickHouse(gate.url, how)
      const api = await apiWith(['clickhouse', 'postgres'], 1_000, { columnar })
      const asked = api.call('query/aggregate', counted)
      const direct = openColumnar(columnarOptions(database))
      await eventually('it runs', async () => (await statementsOf(direct, how)) === 1)
      await direct.close()
      gate[how]()
      const { status, body } = await asked
      expect([status, body.served_by]).toEqual([200, 'postgres'])
      expect(api.served).toMatchObject([
        { store: 'clickhouse', failed: 'store_unavailable' },
        { store: 'postgres', failed: null },
      ])
      gate.open()
    },
  )

  test.each(['stall', 'mute'] as const)('PostgreSQL, by %s: the other one does', async (how) => {
    const postgres_url = await testPostgres()
    await using gate = await tcpGate(postgres_url)
    const api = await apiWith(['postgres', 'clickhouse'], 1_000, { postgres_url: gate.url })
    const direct = await apiWith(['postgres'], 1_000, { postgres_url })
    await withLockedRows(direct, async () => {
      const asked = api.call('query/aggregate', counted)
      await eventually('it runs', async () => (await backendOf(direct)) !== undefined)
      gate[how]()
      const { status, body } = await asked
      expect([status, body.served_by]).toEqual([200, 'clickhouse'])
    })
    expect(api.served[0]).toMatchObject({ store: 'postgres', failed: 'store_unavailable' })
    gate.open()
  })

  test('because another client ended the statement: the other one does', async () => {
    const api = await apiWith(['postgres', 'clickhouse'], 10_000)
    await withLockedRows(api, async () => {
      const asked = api.call('query/aggregate', counted)
      const pid = await eventually('it runs', () => backendOf(api))
      await api.relational.pool.query('select pg_cancel_backend($1)', [pid])
      expect((await asked).body).toMatchObject({ served_by: 'clickhouse' })
    })
  })

  test('because its wait for a lock ended: the other one does', async () => {
    const url = new URL(await testPostgres())
    url.searchParams.set('options', '-c lock_timeout=100')
    const api = await apiWith(['postgres', 'clickhouse'], 10_000, { postgres_url: url.href })
    await withLockedRows(api, async () => {
      const { body } = await api.call('query/aggregate', counted)
      expect(body).toMatchObject({ served_by: 'clickhouse' })
    })
  })

  test('to explain is 503, and no internal error', async () => {
    const api = await apiWith(['postgres', 'clickhouse'], 10_000)
    await withLockedRows(api, async () => {
      const reply = await api.call('query/explain', counted)
      expect(reply.body).toMatchObject({ status: 503, code: 'store_unavailable' })
      expect(reply.headers.get('retry-after')).toBe('1')
    })
  })
})

/** While another transaction locks the table, its readers wait. */
async function withLockedRows({ relational }: QueryApi, work: () => Promise<void>): Promise<void> {
  const client = await relational.pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table hot_observations in access exclusive mode')
    await work()
  } finally {
    await client.query('rollback')
    client.release()
  }
}

async function backendOf({ relational }: QueryApi): Promise<number | undefined> {
  const { rows } = await relational.pool.query(
    `select pid from pg_stat_activity where datname = current_database() and state = 'active'
      and application_name like 'looptrace query %'`,
  )
  return rows[0]?.pid
}

async function statementsOf(columnar: ColumnarServer, name: string): Promise<number> {
  const found = await columnar.query<{ n: string }>(
    `SELECT count() AS n FROM system.processes
    WHERE current_database = currentDatabase() AND query LIKE {like:String} AND query NOT LIKE '%system.processes%'`,
    { like: `%sleepEachRow(0.0002) * length('${name}')%` },
  )
  return Number(found[0]?.n)
}
