import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizer } from '../../src/capabilities/access/index.ts'
import { startJobs } from '../../src/capabilities/jobs/index.ts'
import { openClickHouseRunner, openPostgresRunner } from '../../src/capabilities/query/index.ts'
import {
  chooseByRouting,
  hotWindowBackfill,
  startRouteStats,
  storeBenchmark,
  storeRoutingRoutes,
} from '../../src/capabilities/store-routing/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { openIdempotencyStore } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
let app: AccessApp
let hot: HotWindow
let server: HttpServer
let owner: string
let stats: ReturnType<typeof startRouteStats>

beforeAll(async () => {
  const url = await testPostgres()
  app = await startAccessApp({ database_url: url })
  hot = await openHotWindow({ url })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const { db, routings } = hot
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
  await hot?.close()
  await app?.close()
})

async function call(method: 'GET' | 'POST' | 'PUT', path: string, wish: Wish) {
  const { project_id, body, token = owner } = wish
  const reply = await server.inject({
    method,
    url: `/api/v2/observability/${path}`,
    headers: { authorization: `Bearer ${token}`, 'x-project-id': project_id },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: reply.statusCode, body: reply.json() }
}
type Wish = { project_id: string; body?: unknown; token?: string }

async function newProject(name: string): Promise<string> {
  const at = `/api/v2/access/organizations/${app.first.organization_id}/projects`
  const { body } = await app.call('POST', at, { token: owner, body: { name } })
  return String(body.id)
}

async function work(): Promise<void> {
  const { db, source, writer, routings, columnar, pool, scoped } = hot
  const clock = systemClock
  const runners = {
    clickhouse: openClickHouseRunner({ columnar, logger }),
    postgres: openPostgresRunner({ pool, scoped }),
  }
  const jobs = startJobs({
    db,
    handlers: [
      hotWindowBackfill({ db, source, writer, settle_ms: 0 }),
      storeBenchmark({ db, runners, clock, chooseStore: chooseByRouting({ db, routings, clock }) }),
    ],
    ...{ clock, logger },
    metrics: createMetrics(),
    settings: { poll_ms: 50 },
  })
  const waiting = async () => {
    const { rows } = await pool.query(
      `select count(*)::int as jobs from job_runs where state in ('queued', 'running')`,
    )
    return rows[0].jobs
  }
  await expect.poll(waiting, { timeout: 60_000, interval: 50 }).toBe(0)
  await jobs.stop()
}

/** Calls of the last three hours. */
async function fill(project_id: string): Promise<void> {
  const now = BigInt(Date.now()) * 1_000_000n
  const rows = Array.from({ length: 400 }, (_, at) =>
    observationOf({
      project_id,
      trace_id: newId(),
      observation_id: `o${at}`,
      start_time: now - BigInt(at) * 27_000_000_001n - 100_000_000_000n,
      end_time: now - BigInt(at) * 26_000_000_000n,
      model: `m-${at % 3}`,
      status: at % 7 === 0 ? 'error' : 'ok',
      attributes: { b: '1', a: String(at % 5) },
    }),
  )
  await hot.store.insert(rows, { token: newId() })
}

const both = { write_stores: ['clickhouse', 'postgres'], hot_window_hours: 4 }
const run = 'store-benchmark/run'

describe('a benchmark', () => {
  test('asks both stores the same, and gets the same rows', async () => {
    const project_id = await newProject('benchmark')
    await fill(project_id)
    await call('PUT', 'store-routing', { project_id, body: both })
    await work()
    const minute = 60_000
    const to = Date.now() - 2 * minute
    for (const [at, body] of [
      {
        entity: 'observations',
        order_by: [{ field: 'duration_ms', direction: 'desc' }],
        limit: 20,
      },
      { entity: 'observations', select: ['trace_id', 'attributes'], limit: 30 },
      { entity: 'no more', limit: 20 },
    ].entries()) {
      const window = { from: iso(to - 60 * minute), to: iso(to) }
      stats.onServed({
        ...{ project_id, query_class: 'list', store: 'clickhouse', duration_ms: at },
        ...{ rows_read: 1, failed: null, fallback_reason: null },
        query: { kind: 'query', hash: '', body: { ...body, window } },
      })
    }
    await stats.flush()
    const asked = await call('POST', run, { project_id, body: { runs: 15 } })
    expect([asked.status, asked.body.state, asked.body.cases]).toEqual([202, 'queued', []])
    const again = await call('POST', run, { project_id, body: {} })
    expect([again.status, again.body.code]).toEqual([409, 'job_running'])
    expect(again.body.detail).toContain(asked.body.job_id)
    await work()
    const { body } = await call('GET', `store-benchmark/runs/${asked.body.job_id}`, { project_id })
    expect(body).toMatchObject({ state: 'succeeded', done: 11, of: 11, unreadable: 1 })
    for (const each of body.cases) {
      expect([each.name, each.equal, each.pairs]).toEqual([each.name, true, 15])
      for (const store of each.stores) {
        expect(store).toMatchObject({ runs: 15, errors: 0, error: null })
        expect(store.median_ms).toBeGreaterThan(0)
        expect(store.rows).toBeGreaterThan(0)
      }
    }
    expect(body.cases.filter(({ origin }: Case) => origin === 'recorded')).toHaveLength(2)
    const classes = new Set(body.cases.map(({ query_class }: Case) => query_class))
    expect([...classes].sort()).toEqual(['aggregate', 'list', 'point'])
    const list = await call('GET', 'store-benchmark/runs', { project_id })
    expect(list.body).toMatchObject({ total: 1, runs: [{ job_id: asked.body.job_id }] })
    const { body: card } = await call('GET', 'store-selection/scorecard', { project_id })
    expect(card.benchmark.job_id).toBe(asked.body.job_id)
    const of = (name: string) =>
      card.workloads.find(({ query_class }: { query_class: string }) => query_class === name)
    const { benchmark: list_evidence } = of('list')
    expect(list_evidence).toMatchObject({ unequal: 0, cases: 5, answered: 5, pairs: 15 })
    expect(list_evidence.ratio_low).toBeLessThan(list_evidence.ratio_high)
    expect(of('explorer')).toMatchObject({ verdict: 'not_enough_evidence', recommended: null })
    const put = await call('PUT', 'store-routing', { project_id, body: { apply_scorecard: true } })
    expect([put.status, put.body.version]).toEqual([200, 2])
    expect(put.body).toMatchObject({
      ...both,
      routes: {
        point: of('point').recommended ?? 'auto',
        list: of('list').recommended ?? 'auto',
        aggregate: of('aggregate').recommended ?? 'auto',
        explorer: 'auto',
      },
    })
    const mixed = { apply_scorecard: true, fallback: true }
    const refused = await call('PUT', 'store-routing', { project_id, body: mixed })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/fallback'])
  })

  test('of a project only in ClickHouse compares nothing', async () => {
    const project_id = await newProject('alone')
    await fill(project_id)
    const { body } = await call('POST', run, { project_id, body: { runs: 1, queries_max: 0 } })
    await work()
    const done = await call('GET', `store-benchmark/runs/${body.job_id}`, { project_id })
    expect(done.body.state).toBe('succeeded')
    for (const each of done.body.cases) {
      expect([each.equal, each.stores.length]).toEqual([null, 1])
    }
    const { body: card } = await call('GET', 'store-selection/scorecard', { project_id })
    for (const { verdict } of card.workloads) expect(verdict).toBe('not_enough_evidence')
    const put = await call('PUT', 'store-routing', { project_id, body: { apply_scorecard: true } })
    expect(put.body).toMatchObject({ write_stores: ['clickhouse'], routes: { list: 'auto' } })
  })

  test('belongs to its project, and needs permission', async () => {
    const [project_id, other] = [await newProject('mine'), await newProject('other')]
    const { body } = await call('POST', run, { project_id, body: {} })
    const path = `store-benchmark/runs/${body.job_id}`
    expect((await call('GET', path, { project_id })).status).toBe(200)
    const foreign = await call('GET', path, { project_id: other })
    expect([foreign.status, foreign.body.code]).toEqual([404, 'job_not_found'])
    expect((await call('GET', 'store-benchmark/runs', { project_id: other })).body.total).toBe(0)
    const { token } = await app.person('viewer@example.com', 'member')
    expect((await call('POST', run, { project_id, body: {}, token })).status).toBe(404)
    const wrong = await call('POST', run, { project_id: other, body: { runs: 51 } })
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/runs'])
  })
})

type Case = { origin: string; query_class: string }

function iso(at_ms: number): string {
  return new Date(at_ms).toISOString()
}
