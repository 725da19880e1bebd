import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizer } from '../../src/capabilities/access/index.ts'
import type { Served } from '../../src/capabilities/query/index.ts'
import {
  createRoutingCache,
  startRouteStats,
  storeRoutingRoutes,
} from '../../src/capabilities/store-routing/index.ts'
import {
  slowestAndLatest,
  trimRouteStats,
} from '../../src/capabilities/store-routing/route-stats-store.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import {
  type HotTables,
  type JobTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type RouteTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

const url = '/api/v2/observability/store-routing'
const logger = createLogger({ role: 'test', level: 'silent' })
let app: AccessApp
let relational: Relational<HotTables & JobTables & RouteTables>
let server: HttpServer
let owner: string
let stats: ReturnType<typeof startRouteStats>

beforeAll(async () => {
  const database_url = await testPostgres()
  app = await startAccessApp({ database_url })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  relational = openRelational({
    scope: allTenants,
    url: database_url,
    pool_max: 6,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 10_000,
    logger,
  })
  const { db } = relational
  const routings = createRoutingCache({ db, clock: systemClock })
  stats = startRouteStats({ db, clock: systemClock, logger })
  server = await createHttpServer({
    routes: storeRoutingRoutes({ db, clock: systemClock, routings, stats }),
    authorize: authorizer(app.access),
    idempotency: openIdempotencyStore(app.relational.db),
    logger,
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 10_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
})
afterAll(async () => {
  await server?.close()
  await stats?.stop()
  await relational?.close()
  await app?.close()
})

type Wish = { token?: string; headers?: Record<string, string>; project_id?: string }

async function send(method: 'GET' | 'PUT', body: unknown, wish: Wish = {}) {
  const { token = owner, headers = {}, project_id = app.first.project_id } = wish
  const reply = await server.inject({
    method,
    url,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      'x-project-id': project_id,
      ...headers,
    },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: reply.statusCode, body: reply.json(), etag: reply.headers.etag }
}
const get = (wish?: Wish) => send('GET', undefined, wish)
const put = (body: unknown, wish?: Wish) => send('PUT', body, wish)
const both = { write_stores: ['clickhouse', 'postgres'] }

async function newProject(name: string): Promise<string> {
  const at = `/api/v2/access/organizations/${app.first.organization_id}/projects`
  const { body } = await app.call('POST', at, { token: owner, body: { name } })
  return String(body.id)
}

test('a project is only in ClickHouse by default', async () => {
  expect(await get()).toEqual({
    status: 200,
    etag: expect.stringMatching(/^"0-/),
    body: {
      project_id: app.first.project_id,
      write_stores: ['clickhouse'],
      hot_window_hours: 48,
      routes: { point: 'auto', list: 'auto', aggregate: 'auto', explorer: 'auto' },
      fallback: true,
      version: 0,
      updated_at: null,
      updated_by: null,
      hot_window: null,
    },
  })
})

test('a stored routing is read back, and by no other project', async () => {
  const project_id = await newProject('set')
  const wanted = {
    ...both,
    hot_window_hours: 24,
    routes: { list: 'postgres' },
    fallback: false,
  }
  const set = await put(wanted, { project_id })
  expect([set.status, set.etag]).toEqual([200, '"1"'])
  expect(set.body).toMatchObject({
    ...wanted,
    project_id,
    routes: { point: 'auto', list: 'postgres', aggregate: 'auto', explorer: 'auto' },
    version: 1,
    hot_window: {
      readable_from: null,
      backfill: { state: 'queued', done: 0, of: null, rows: 0, error: null },
      incomplete_days: [],
    },
  })
  expect(set.body.updated_by).toMatch(/^user:[0-9a-f-]{36}$/)
  expect((await get({ project_id })).body).toEqual(set.body)
  expect((await get()).body.version).toBe(0)
})

describe('the hot window is filled', () => {
  const jobOf = async (project_id: string) =>
    (await get({ project_id })).body.hot_window?.backfill?.job_id

  test('when it is new or wider, and not otherwise', async () => {
    const project_id = await newProject('filled')
    await put({ ...both, hot_window_hours: 24 }, { project_id })
    const first = await jobOf(project_id)
    await put({ ...both, hot_window_hours: 24, fallback: false }, { project_id })
    await put({ ...both, hot_window_hours: 12 }, { project_id })
    expect(await jobOf(project_id)).toBe(first)
    await put({ ...both, hot_window_hours: 36 }, { project_id })
    const second = await jobOf(project_id)
    expect(second).not.toBe(first)
    await put({}, { project_id })
    expect((await get({ project_id })).body.hot_window).toBeNull()
    await put({ ...both, hot_window_hours: 36 }, { project_id })
    expect(await jobOf(project_id)).not.toBe(second)
  })

  test('once more when the run failed', async () => {
    const project_id = await newProject('failed')
    await put(both, { project_id })
    const first = await jobOf(project_id)
    await relational.db
      .updateTable('job_runs')
      .set({ state: 'failed', error: 'no room' })
      .where('id', '=', first)
      .execute()
    expect((await get({ project_id })).body.hot_window.backfill).toMatchObject({
      state: 'failed',
      error: 'no room',
    })
    await put(both, { project_id })
    expect(await jobOf(project_id)).not.toBe(first)
  })

  test('and trimmed hours do not count as filled', async () => {
    const project_id = await newProject('shrunk')
    await put({ ...both, hot_window_hours: 100 }, { project_id })
    const covered = 86_400_000_000_000n
    await relational.pool.query('update hot_coverage set covered_from = $1 where project_id = $2', [
      covered,
      project_id,
    ])
    await put({ ...both, hot_window_hours: 2 }, { project_id })
    await put({ ...both, hot_window_hours: 100 }, { project_id })
    const { rows } = await relational.pool.query(
      'select covered_from::text as at from hot_coverage where project_id = $1',
      [project_id],
    )
    const hours = (BigInt(Date.now()) * 1_000_000n - BigInt(rows[0].at)) / 3_600_000_000_000n
    expect(Number(hours)).toBeLessThanOrEqual(2 + 26)
  })
})

test('another process uses the old routing for five seconds at most', async () => {
  const project_id = await newProject('elsewhere')
  const clock = { at_ms: 1_000, now_ms: () => clock.at_ms }
  const elsewhere = createRoutingCache({ db: relational.db, clock })
  const stores = async () => (await elsewhere.routingOf(project_id)).write_stores
  expect(await stores()).toEqual(['clickhouse'])
  await put(both, { project_id })
  clock.at_ms += 4_999
  expect(await stores()).toEqual(['clickhouse'])
  clock.at_ms += 1
  expect(await stores()).toEqual(['clickhouse', 'postgres'])
})

describe('If-Match', () => {
  test('only the version that was read is replaced', async () => {
    const project_id = await newProject('etags')
    const match = (etag: string) => ({ project_id, headers: { 'if-match': etag } })
    expect((await put(both, match('"0"'))).etag).toBe('"1"')
    for (const stale of ['"0"', '"2"', 'W/"1"', '1', '"x"']) {
      const { status, body } = await put({}, match(stale))
      expect([stale, status, body.code]).toEqual([stale, 412, 'precondition_failed'])
      expect(body.detail).toContain('expected "1"')
    }
    expect((await get({ project_id })).body).toMatchObject({ ...both, version: 1 })
    expect((await put({}, match('"1"'))).etag).toBe('"2"')
    expect((await put({}, match('*'))).etag).toBe('"3"')
  })

  test('of many concurrent changes one wins, and one run fills the window', async () => {
    const project_id = await newProject('race')
    const wish = { project_id, headers: { 'if-match': '"0"' } }
    const replies = await Promise.all(Array.from({ length: 6 }, () => put(both, wish)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412])
    const jobs = await relational.db
      .selectFrom('job_runs')
      .select('id')
      .where('project_id', '=', project_id)
      .execute()
    expect(jobs).toHaveLength(1)
  })
})

test('a viewer reads, an admin sets, others get nothing', async () => {
  const project_id = await newProject('people')
  const roleOf = async (role: string) => {
    const person = await app.person(`${role}@example.com`, 'member')
    const at = `/api/v2/access/projects/${project_id}/members/${person.user_id}`
    await app.call('PUT', at, { token: owner, body: { role } })
    return person.token
  }
  const [viewer, editor, admin] = [
    await roleOf('viewer'),
    await roleOf('editor'),
    await roleOf('admin'),
  ]
  const outsider = (await app.person('outsider@example.com', 'member')).token
  const status = async (token: string, headers?: Record<string, string>) => {
    const wish = { token, project_id, ...(headers && { headers }) }
    return [await get(wish), await put({}, wish)].map((reply) => reply.status)
  }
  expect(await status(viewer)).toEqual([200, 403])
  expect(await status(editor)).toEqual([200, 403])
  expect(await status(admin)).toEqual([200, 200])
  expect(await status(outsider)).toEqual([404, 404])
  expect(await status('')).toEqual([401, 401])
  expect(await status('', { 'x-api-key': app.first.project_key })).toEqual([401, 401])
})

test.each([
  [{ write_stores: ['postgres'] }, '/write_stores', /expected clickhouse among them/],
  [{ write_stores: ['clickhouse', 'mysql'] }, '/write_stores/1', /clickhouse, postgres/],
  [{ write_stores: ['clickhouse', 'clickhouse'] }, '/write_stores/1', /each store once/],
  [{ routes: { list: 'postgres' } }, '/routes/list', /which is not in write_stores/],
  [{ routes: { lists: 'auto' } }, '/routes/lists', /is not a field here/],
  [{ routes: { list: 'fastest' } }, '/routes/list', /one of auto, clickhouse, postgres/],
  [{ ...both, hot_window_hours: 0 }, '/hot_window_hours', /1 to 720/],
  [{ ...both, hot_window_hours: 721 }, '/hot_window_hours', /1 to 720/],
  [{ ...both, hot_window_hours: 1.5 }, '/hot_window_hours', /a whole number/],
  [{ unknown: 1 }, '/unknown', /is not a field here/],
])('%j is refused with its position', async (body, pointer, detail) => {
  const reply = await put(body)
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
  expect(reply.body.errors[0]).toEqual({ pointer, detail: expect.stringMatching(detail) })
})

describe('statistics of reads', () => {
  const at = '/api/v2/observability/query/route-stats'
  const read = async (project_id: string, query = '') => {
    const reply = await server.inject({
      method: 'GET',
      url: `${at}${query}`,
      headers: { authorization: `Bearer ${owner}`, 'x-project-id': project_id },
    })
    return { status: reply.statusCode, body: reply.json() }
  }
  const served = (project_id: string, about: Partial<Served> = {}): Served => ({
    project_id,
    query_class: 'list',
    store: 'clickhouse',
    duration_ms: 10,
    rows_read: 100,
    failed: null,
    fallback_reason: null,
    query: { kind: 'query', hash: 'h', body: { entity: 'observations', window: {}, limit: 5 } },
    ...about,
  })

  test('add up the reads of all processes', async () => {
    const project_id = await newProject('stats')
    const other = startRouteStats({ db: relational.db, clock: systemClock, logger })
    for (const process of [stats, other]) {
      for (let at = 0; at < 10; at++) process.onServed(served(project_id))
      process.onServed(served(project_id, { duration_ms: 1000, fallback_reason: 'away' }))
      process.onServed(served(project_id, { failed: 'store_unavailable', rows_read: null }))
      process.onServed(served(project_id, { failed: 'client_left' }))
      process.onServed(served(project_id, { store: 'postgres', rows_read: null }))
    }
    await other.stop()
    const { status, body } = await read(project_id)
    expect(status).toBe(200)
    const [clickhouse, postgres] = body.routes
    expect(clickhouse).toEqual({
      ...{ query_class: 'list', store: 'clickhouse', requests: 24, errors: 2, fallbacks: 2 },
      error_rate: 0.0833,
      p50_ms: expect.closeTo(10, 0),
      p95_ms: expect.toSatisfy((ms: number) => ms > 900 && ms < 1100),
      rows_read_avg: 100,
    })
    expect(postgres).toMatchObject({ store: 'postgres', requests: 2, rows_read_avg: null })
    expect((await read(await newProject('stats of nobody'))).body.routes).toEqual([])
    expect((await read(project_id, '?to=2026-01-01T00:00:00Z')).body.routes).toEqual([])
  })

  test('do not blame a store for a query over its limit', async () => {
    const project_id = await newProject('too much')
    stats.onServed(served(project_id, { duration_ms: 10 }))
    const failed = 'query_too_expensive'
    stats.onServed(served(project_id, { duration_ms: 9_000, failed, rows_read: null }))
    const { body } = await read(project_id)
    expect(body.routes).toEqual([
      {
        ...{ query_class: 'list', store: 'clickhouse', requests: 2, errors: 0, fallbacks: 0 },
        ...{ error_rate: 0, rows_read_avg: 100 },
        ...{ p50_ms: expect.closeTo(10, 0), p95_ms: expect.closeTo(10, 0) },
      },
    ])
  })

  test('keep the queries for any window, and forget old ones and those beyond the limit', async () => {
    const project_id = await newProject('recorded')
    for (let at = 0; at < 5; at++) {
      const body = { entity: 'observations', window: { from: at }, limit: 5 }
      stats.onServed(
        served(project_id, { duration_ms: at, query: { kind: 'query', hash: 'h', body } }),
      )
    }
    const long = { entity: 'x'.repeat(20_000) }
    stats.onServed(served(project_id, { query: { kind: 'query', hash: 'l', body: long } }))
    await stats.flush()
    const about = { project_id, each: 10 }
    expect(await slowestAndLatest(relational.db, about)).toMatchObject([
      { times: 5, slowest_ms: 4, body: { window: { from: 4 } } },
    ])
    for (let at = 0; at < 250; at++) {
      const body = { entity: `e${at}` }
      stats.onServed(
        served(project_id, { duration_ms: at, query: { kind: 'query', hash: '', body } }),
      )
    }
    await stats.flush()
    await trimRouteStats(relational.db, new Date())
    const kept = await slowestAndLatest(relational.db, { project_id, each: 1_000 })
    expect([kept.length >= 100, kept.length <= 200]).toEqual([true, true])
    await trimRouteStats(relational.db, new Date(Date.now() + 8 * 86_400_000))
    expect(await slowestAndLatest(relational.db, about)).toEqual([])
    expect((await read(project_id)).body.routes).toEqual([])
  })
})
