import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { accountOf, expectFaithfulRows, recordedOf } from '../support/bookkeeping.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type IngestLoadOptions, startIngestLoad } from '../support/ingest-load.ts'
import { type ParcelWay, parcelOf } from '../support/ingest-parcels.ts'
import { grpcSender, httpSender, type IngestTargets, type Told } from '../support/ingest-senders.ts'
import { ledgerSums, untilIngestQuiet } from '../support/ledger-sums.ts'
import { type Load, type LoadOptions, startLoad } from '../support/load.ts'
import { scrape } from '../support/metrics.ts'
import { printCounts } from '../support/print-counts.ts'
import { type RecordCounts, recordCounts, untilAllRecorded } from '../support/quiet.ts'
import { expectRollUps } from '../support/roll-ups.ts'
import { openTestColumnar } from '../support/single-machine.ts'
import { inSoak, soakOnly } from '../support/suite/budget.ts'

const enoughCalls = 80
const spool_bytes_min = 1_048_576

let cluster: Cluster
let columnar: ColumnarServer

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      LOOPTRACE_INGEST_BATCH_WAIT_MS: '20',
      LOOPTRACE_INGEST_ACK_WAIT_MS: '2000',
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 4, delay_ms: 2 } }] },
  })
  columnar = openTestColumnar(cluster.clickhouse.server())
})

afterAll(async () => {
  await columnar.close()
  await cluster.stop()
})

test('with every store unavailable clients are served, and nothing is lost afterwards', async () => {
  const load = loadOf({ run: 'outage' })
  await untilCalls(load, enoughCalls)
  await stopStores()
  const away_from = load.calls.length
  await untilCalls(load, enoughCalls)
  const { in_spool } = await recordCounts(cluster.proxy.management_url)
  expect(in_spool).toBeGreaterThan(0)
  await expectHonestApi()
  await expectUnknownKeyIsNotRefused()
  await cluster.postgres.start()
  await expectHonestTimeline(load.calls[0]?.task_id ?? '')
  await Promise.all([cluster.nats.restart(), cluster.clickhouse.start()])
  const calls = await load.stop()
  const counted = await untilQuiet()
  const recorded = await recordedOf(columnar, 'outage')
  const account = accountOf(calls, recorded)
  printCounts('cluster, PostgreSQL, ClickHouse and NATS away', {
    ...account,
    sent_while_away: calls.length - away_from,
    spooled_messages: counted.spooled,
    counted_as_lost: counted.lost,
  })
  expect(account).toMatchObject({ seen_otherwise: 0, duplicates: 0, lost: 0 })
  expect(counted).toMatchObject({ lost: 0, published: account.recorded })
  expectFaithfulRows(calls, recorded)
  await expectRollUps(reader(), recorded)
}, 300_000)

test('a proxy that restarts while NATS is unavailable keeps its spool', async () => {
  await cluster.nats.stop()
  const first = await callsOf({ run: 'restart-1', calls_max: 20 })
  await cluster.proxy.stop()
  await cluster.proxy.start()
  const { in_spool } = await recordCounts(cluster.proxy.management_url)
  expect(in_spool).toBeGreaterThan(0)
  await cluster.proxy.kill()
  await cluster.proxy.start()
  const second = await callsOf({ run: 'restart-2', calls_max: 20 })
  await cluster.nats.restart()
  const counted = await untilQuiet()
  const calls = [...first, ...second]
  const recorded = await recordedOf(columnar, 'restart-')
  const account = accountOf(calls, recorded)
  printCounts('cluster, proxy restarted while NATS is unavailable', {
    ...account,
    counted_as_lost: counted.lost,
  })
  expect(account).toMatchObject({ sent: 40, seen_complete: 40, recorded: 40, duplicates: 0 })
  expectFaithfulRows(calls, recorded)
}, 180_000)

test('records that a proxy takes along when its disk goes with it are in the ledger', async () => {
  const from_ms = Date.now()
  const sent = { run: 'disk', calls_max: 20 }
  await cluster.nats.stop()
  await callsOf(sent)
  await eventually('they are on the disk', async () => {
    const { in_spool, pending } = await recordCounts(cluster.proxy.management_url)
    return in_spool > 0 && pending === 0
  })
  expect(await cluster.proxy.stop()).toBe(0)
  expect(cluster.proxy.output()).toContain('its last records are only on its disk')
  await rm(join(cluster.directory, 'proxy', 'spool'), { recursive: true })
  await cluster.proxy.start()
  await cluster.nats.restart()
  await cluster.worker.stop()
  await cluster.worker.start()
  const fate = async () => (await ledgerSums(reader(), { from_ms, to_ms: Date.now() })).proxy
  await eventually('the ledger knows them', async () => (await fate()).accepted === 20, {
    timeout_ms: 60_000,
  })
  expect(await fate()).toMatchObject({ stored: 0, rejected: 0 })
  if (!inSoak('A loss is certain after a minute; ledger.test.ts shows it with a clock.')) return
  await eventually('they are lost', async () => (await fate()).lost === 20, { timeout_ms: 120_000 })
}, 240_000)

test('a proxy that stops in an outage gives its spool to the queue if that comes back in time', async () => {
  await cluster.nats.stop()
  const calls = await callsOf({ run: 'drain', calls_max: 20 })
  const stopped = cluster.proxy.stop()
  await cluster.nats.restart()
  expect(await stopped).toBe(0)
  await rm(join(cluster.directory, 'proxy', 'spool'), { recursive: true })
  await cluster.proxy.start()
  await untilQuiet()
  const account = accountOf(calls, await recordedOf(columnar, 'drain'))
  expect(account).toMatchObject({ sent: 20, seen_complete: 20, recorded: 20, duplicates: 0 })
}, 180_000)

test(
  'records without room in the spool are counted as lost, and clients are served',
  soakOnly('The full spool below counts lost calls too.', { timeout: 180_000 }),
  async () => {
    await cluster.proxy.stop()
    await cluster.proxy.start({ LOOPTRACE_SPOOL_BYTES_MAX: `${spool_bytes_min}` })
    await cluster.nats.stop()
    const calls = await callsOf({ run: 'bound', calls_max: 60, padding_bytes: 30_000 })
    await eventually(
      'every record is spooled or lost',
      async () => (await recordCounts(cluster.proxy.management_url)).pending === 0,
      { timeout_ms: 30_000, interval_ms: 50 },
    )
    await cluster.nats.restart()
    const counted = await untilQuiet()
    const recorded = await recordedOf(columnar, 'bound')
    const account = accountOf(calls, recorded)
    printCounts('cluster, a spool of 1 MiB while NATS is unavailable', {
      ...account,
      counted_as_lost: counted.lost,
    })
    expect(account).toMatchObject({ sent: 60, seen_complete: 60, duplicates: 0 })
    expect(account.recorded).toBeGreaterThan(0)
    expect(account.lost).toBeGreaterThan(0)
    expect(counted.lost).toBe(account.lost)
    await expectRollUps(reader(), recorded)
  },
)

test('a full spool: exporters get a retryable answer, completions continue, the ledger counts', async () => {
  await restartEdges({ LOOPTRACE_SPOOL_BYTES_MAX: `${spool_bytes_min}` })
  const from_ms = Date.now()
  await cluster.nats.stop()
  const options: IngestLoadOptions = {
    ...targets(),
    ...{ run: 'full', clients: { protobuf: 2, json: 1, grpc: 1, api: 2 }, parcels_max: 4_000 },
    padding_bytes: 40_000,
  }
  const load = startIngestLoad(options)
  await eventually(
    'both edges refuse',
    () => ['api', 'protobuf'].every((way) => refused(load.parcels, way).length > 2),
    { timeout_ms: 60_000 },
  )
  const outcomes = await Promise.all((['protobuf', 'json', 'grpc', 'api'] as const).map(oneOf))
  for (const one of outcomes)
    expect(one).toMatchObject({ outcome: 'refused', may_retry_after: true })

  const calls = startLoad({
    ...{ base_url: () => cluster.proxy.base_url, project_key: cluster.login.project_key },
    ...{ run: 'full', clients: 2, calls_max: 30, padding_bytes: 20_000 },
  })
  await eventually('the calls are answered', () => calls.calls.length === 30, {
    timeout_ms: 30_000,
  })
  // It retries for some seconds before it drops a record; others are in the spool or in flight.
  await eventually('records are lost', async () => (await pendingCalls()) === 0, {
    timeout_ms: 30_000,
    interval_ms: 50,
  })
  await cluster.nats.restart()
  const sent = await load.stop()
  await untilIngestQuiet(processes())
  const ledger = await ledgerSums(reader(), { from_ms, to_ms: Date.now() + 1 })
  const seen = (await calls.stop()).filter(({ complete }) => complete).length
  const { accepted, stored, lost, lost_by_reason } = ledger.proxy
  printCounts('a full spool', {
    parcels: sent.length,
    refused: sent.flatMap(({ told }) => told.filter(({ outcome }) => outcome === 'refused')).length,
    calls_seen: seen,
    calls_stored: stored,
    calls_lost: lost,
  })
  expect(seen).toBe(30)
  expect(accepted).toBe(30)
  expect(lost).toBeGreaterThan(0)
  expect(lost_by_reason).toEqual([{ reason: 'not_published', items: lost }])
  expect(
    sent.flatMap(({ told }) => told.slice(-1)).every(({ outcome }) => outcome === 'taken'),
  ).toBe(true)
  expect(ledger.otlp).toMatchObject({ pending: 0, lost: 0 })
  expect(ledger.api).toMatchObject({ pending: 0, lost: 0 })
}, 180_000)

const targets = (): IngestTargets => ({
  otlp_url: () => cluster.proxy.base_url,
  otlp_grpc_address: () => cluster.proxy.otlp_grpc_address,
  api_url: () => cluster.api.base_url,
  project_key: cluster.login.project_key,
})

const processes = () => ({
  edges: [cluster.proxy.management_url, cluster.api.management_url],
  worker: cluster.worker.management_url,
})

async function restartEdges(env: Record<string, string>): Promise<void> {
  await Promise.all([cluster.proxy.stop(), cluster.api.stop()])
  await Promise.all([cluster.proxy.start(env), cluster.api.start(env)])
}

async function pendingCalls(): Promise<number> {
  return (await scrape(cluster.proxy.management_url))('looptrace_proxy_records_pending')
}

function refused(parcels: readonly { way: ParcelWay; told: readonly Told[] }[], way: string) {
  return parcels
    .filter((parcel) => parcel.way === way)
    .flatMap(({ told }) => told.filter(({ outcome }) => outcome === 'refused'))
}

/** Sends one parcel that is too large for the remaining room of the smallest spool. */
async function oneOf(way: ParcelWay): Promise<Told> {
  const about = { run: 'refused', client: 9, number: 0, padding_bytes: 400_000 }
  const parcel = parcelOf({ way, ...about })
  if (way !== 'grpc') return httpSender(targets())(parcel)
  const grpc = grpcSender(targets())
  const outcome = await grpc.send(parcel)
  grpc.close()
  return outcome
}

function loadOf(options: Partial<LoadOptions> & { run: string }): Load {
  return startLoad({
    base_url: () => cluster.proxy.base_url,
    project_key: cluster.login.project_key,
    clients: 4,
    calls_max: 2_000,
    ...options,
  })
}

/** Sends a fixed number of calls. */
async function callsOf(options: { run: string; calls_max: number; padding_bytes?: number }) {
  const load = loadOf(options)
  await untilCalls(load, options.calls_max)
  return load.stop()
}

async function untilCalls(load: Load, more: number): Promise<void> {
  const enough = load.calls.length + more
  await eventually(`${more} more calls`, () => load.calls.length >= enough, {
    timeout_ms: 30_000,
  })
}

async function stopStores(): Promise<void> {
  const { nats, postgres, clickhouse } = cluster
  await Promise.all([nats.stop(), postgres.stop(), clickhouse.stop()])
}

function untilQuiet(): Promise<RecordCounts> {
  const { proxy, worker } = cluster
  return untilAllRecorded({ proxy: proxy.management_url, worker: worker.management_url })
}

function reader() {
  return { api_url: cluster.api.base_url, project_key: cluster.login.project_key }
}

/** The API names the unavailable store; the process itself is alive and not ready. */
async function expectHonestApi(): Promise<void> {
  const { api_url, project_key } = reader()
  const tasks = await fetch(`${api_url}/api/v1/tasks`, { headers: { 'x-api-key': project_key } })
  expect(tasks.status).toBe(503)
  expect(tasks.headers.get('content-type')).toContain('application/problem+json')
  expect(tasks.headers.get('retry-after')).toBe('1')
  expect(await tasks.json()).toMatchObject({
    code: 'store_unavailable',
    detail: expect.stringContaining('relational store'),
  })
  for (const { management_url } of [cluster.api, cluster.proxy, cluster.worker]) {
    expect((await fetch(`${management_url}/livez`)).status).toBe(200)
  }
  const ready = await fetch(`${cluster.api.management_url}/readyz`)
  expect(ready.status).toBe(503)
  expect(await ready.text()).toMatch(/^no postgres/m)
  expect((await fetch(`${cluster.proxy.management_url}/readyz`)).status).toBe(200)
}

/** With only PostgreSQL, tasks can be read; their content is in the other store. */
async function expectHonestTimeline(task_id: string): Promise<void> {
  const { api_url, project_key } = reader()
  const headers = { 'x-api-key': project_key }
  const task = `${api_url}/api/v1/tasks/${task_id}`
  await eventually('tasks are back', async () => (await fetch(task, { headers })).status === 200)
  const timeline = await fetch(`${task}/timeline`, { headers })
  expect(timeline.status).toBe(503)
  expect(await timeline.json()).toMatchObject({
    code: 'store_unavailable',
    detail: expect.stringContaining('columnar store'),
  })
  const ready = await fetch(`${cluster.api.management_url}/readyz`)
  expect(await ready.text()).toMatch(/^ok postgres\nno clickhouse/)
}

/** A key that cannot be looked up may be valid, so the answer is not 401. */
async function expectUnknownKeyIsNotRefused(): Promise<void> {
  const answer = await fetch(`${cluster.proxy.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer provider-key',
      'x-api-key': `lt_Unknown1_${'a'.repeat(32)}`,
    },
    body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(await answer.json()).toEqual({
    error: {
      message: expect.stringContaining('relational store is unavailable'),
      type: expect.any(String),
      param: null,
      code: 'store_unavailable',
    },
  })
}
