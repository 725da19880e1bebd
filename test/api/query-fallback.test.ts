import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ChooseStore,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
  queryRoutes,
} from '../../src/capabilities/query/index.ts'
import { chooseByRouting, createRoutingCache } from '../../src/capabilities/store-routing/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import {
  type HotTables,
  type JobTables,
  openRelational,
  type Relational,
  type RouteTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { observationOf } from '../support/observations.ts'
import { querySettings } from '../support/query-api.ts'
import { authorize, keyOf } from '../support/task-api.ts'
import { type TcpGate, tcpGate } from '../support/tcp-gate.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
const hour = 3_600_000_000_000n
let hot: HotWindow
let gates: { clickhouse: TcpGate; postgres: TcpGate }
let relational: Relational<HotTables & JobTables & RouteTables>
let server: HttpServer
let project_id: string
/** Hook between the choice of a store and its use. */
let afterChoice: () => void = () => undefined
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  hot = await openHotWindow()
  const database = await testClickHouse()
  gates = { clickhouse: await tcpGate(database.url), postgres: await tcpGate(hot.url) }
  const direct = await migratedClickHouse(database)
  const columnar = openColumnar(columnarOptions({ ...database, url: gates.clickhouse.url }))
  relational = openRelational({
    scope: allTenants,
    url: gates.postgres.url,
    pool_max: 4,
    connect_timeout_ms: 1_000,
    statement_timeout_ms: 10_000,
    logger,
  })
  const { db } = relational
  // Cached routings never expire here: an outage must be met on the way to the rows, too.
  const routings = createRoutingCache({ db, clock: { now_ms: () => 0 } })
  const choose = chooseByRouting({ db, routings, clock: hot.clock })
  const chooseStore: ChooseStore = async (asked) => {
    const choice = await choose(asked)
    afterChoice()
    return choice
  }
  const metrics = createMetrics()
  const runners = {
    clickhouse: openClickHouseRunner({ columnar, logger }),
    postgres: openPostgresRunner(relational),
  }
  const deps = openQueries({
    ...{ runners, chooseStore, metrics, logger },
    onServed: () => undefined,
    settings: querySettings,
  })
  server = await createHttpServer({
    routes: queryRoutes(deps),
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    ...{ logger, metrics },
    clock: hot.clock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  closing.push(
    () => server.close(),
    () => columnar.close(),
    () => direct.close(),
    () => relational.close(),
    async () => gates.clickhouse[Symbol.asyncDispose](),
    async () => gates.postgres[Symbol.asyncDispose](),
    () => hot.close(),
  )
})
afterAll(async () => {
  for (const close of closing) await close()
})

beforeEach(async () => {
  afterChoice = () => undefined
  gates.clickhouse.open()
  gates.postgres.open()
  project_id = await hot.newProject()
})

/** A project whose hot window is filled, from the very beginning. */
async function route(...[wanted]: [Parameters<HotWindow['route']>[1]?]) {
  await hot.route(project_id, wanted)
  await hot.pool.query('update hot_coverage set covered_from = 0 where project_id = $1', [
    project_id,
  ])
  const now = BigInt(hot.clock.at_ms) * 1_000_000n
  const row = observationOf({ project_id, trace_id: newId(), start_time: now - hour })
  await hot.writer.write('hot_observations', [{ row, ingested_at_ms: 1 }])
}

async function ask(path: 'query' | 'query/aggregate', hours = 2) {
  const [from, to] = [hot.clock.at_ms - hours * 3_600_000, hot.clock.at_ms]
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const measures = path === 'query' ? {} : { measures: [{ fn: 'count', as: 'n' }] }
  const reply = await server.inject({
    method: 'POST',
    url: `/api/v2/observability/${path}`,
    headers: keyOf(project_id, 'query:run'),
    payload: { entity: 'observations', window, ...measures },
  })
  return { status: reply.statusCode, body: reply.json() }
}

describe('the chosen store', () => {
  test('answers, and is named', async () => {
    await route()
    expect((await ask('query')).body).toMatchObject({
      served_by: 'postgres',
      fallback_reason: null,
      rows: [{ observation_id: '00f067aa0ba902b7' }],
    })
    expect((await ask('query/aggregate')).body).toMatchObject({ served_by: 'clickhouse' })
  })

  test.each([
    ['query', 'postgres', 'clickhouse', 'PostgreSQL is unavailable'],
    ['query/aggregate', 'clickhouse', 'postgres', 'ClickHouse is unavailable'],
  ] as const)('of %s, %s, is killed: %s answers', async (path, chosen, other, reason) => {
    await route()
    expect((await ask(path)).body).toMatchObject({ served_by: chosen })
    afterChoice = () => gates[chosen].close()
    const { status, body } = await ask(path)
    expect([status, body.served_by, body.fallback_reason]).toEqual([200, other, reason])
  })

  test.each([
    ['query', 'postgres', /PostgreSQL/],
    ['query/aggregate', 'clickhouse', /ClickHouse/],
  ] as const)('of %s, %s, is killed, and no other may answer', async (path, chosen, name) => {
    await route({ fallback: false })
    expect((await ask(path)).body).toMatchObject({ served_by: chosen })
    afterChoice = () => gates[chosen].close()
    const { status, body } = await ask(path)
    expect([status, body.code]).toEqual([503, 'store_unavailable'])
    expect(body.detail).toMatch(name)
  })

  test('is unavailable before it is chosen', async () => {
    await route()
    await ask('query')
    gates.postgres.close()
    expect((await ask('query')).body).toMatchObject({ served_by: 'clickhouse' })
    project_id = newId()
    expect((await ask('query')).body).toMatchObject({
      served_by: 'clickhouse',
      fallback_reason: 'PostgreSQL is unavailable',
    })
  })

  test('does not hold the window', async () => {
    await route({ routes: { list: 'postgres' } })
    expect((await ask('query', 30)).body).toMatchObject({
      served_by: 'clickhouse',
      fallback_reason: 'the window begins before the hot window of 24 hours',
    })
    project_id = await hot.newProject()
    await route({ routes: { list: 'postgres' }, fallback: false })
    const { status, body } = await ask('query', 30)
    expect([status, body.code]).toEqual([503, 'store_unavailable'])
    expect(body.detail).toContain("PostgreSQL can't answer: the window begins before")
  })
})
