import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Columnar } from '../../src/platform/columnar/index.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type IngestLoadOptions, startIngestLoad } from '../support/ingest-load.ts'
import { type ParcelWay, parcelOf } from '../support/ingest-parcels.ts'
import { type IngestRun, type IngestRunOptions, startIngestRun } from '../support/ingest-run.ts'
import { grpcSender, httpSender, type IngestTargets, type Told } from '../support/ingest-senders.ts'
import { ledgerSums, untilIngestQuiet } from '../support/ledger-sums.ts'
import { startLoad } from '../support/load.ts'
import { scrape } from '../support/metrics.ts'
import { printCounts } from '../support/print-counts.ts'
import { openTestColumnar } from '../support/single-machine.ts'
import { type TcpGate, tcpGate } from '../support/tcp-gate.ts'

/** So much is taken between two events. */
const between = 60
const spool_bytes_min = 1_048_576

let cluster: Cluster
let columnar: Columnar
let gate: TcpGate
/** Proxy and api reach the queue through the gate, the worker does not. */
let throughGate: Record<string, string>

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
  gate = await tcpGate(cluster.nats.url)
  throughGate = { LOOPTRACE_NATS_URL: gate.url }
  await restartEdges()
})

afterAll(async () => {
  await columnar?.close()
  await cluster?.stop()
  await gate?.[Symbol.asyncDispose]()
})

async function restartEdges(more: Record<string, string> = {}): Promise<void> {
  const env = { ...throughGate, ...more }
  await Promise.all([cluster.proxy.stop(), cluster.api.stop()])
  await Promise.all([cluster.proxy.start(env), cluster.api.start(env)])
}

const targets = (): IngestTargets => ({
  otlp_url: () => cluster.proxy.base_url,
  otlp_grpc_address: () => cluster.proxy.otlp_grpc_address,
  api_url: () => cluster.api.base_url,
  project_key: cluster.login.project_key,
})

const reader = () => ({ api_url: cluster.api.base_url, project_key: cluster.login.project_key })

const processes = () => ({
  edges: [cluster.proxy.management_url, cluster.api.management_url],
  worker: cluster.worker.management_url,
})

function start(options: IngestRunOptions): IngestRun {
  const withColumnar = <T>(work: (of: Columnar) => Promise<T>) => work(columnar)
  return startIngestRun({ ...targets(), processes, reader, withColumnar }, options)
}

async function spooled(): Promise<number> {
  const value = await scrape(cluster.proxy.management_url)
  return value('looptrace_spool_messages_total', { moved: 'in' })
}

test('the network between edges and the queue is cut: all is spooled, and nothing comes twice', async () => {
  const load = start({ run: 'cut' })
  const before = await spooled()
  for (let cut = 0; cut < 3; cut += 1) {
    await load.until(between)
    // The queue takes what is published, and its word for that never comes.
    gate.mute()
    await load.until(between / 4)
    gate.close()
    await load.until(between)
    gate.open()
  }
  await load.until(between)
  const accounts = await load.expectBalance('the network cut 3 times')
  printCounts('the network cut 3 times', { spooled: (await spooled()) - before })
  expect(await spooled()).toBeGreaterThan(before)
  expect(accounts.otlp.untold).toBe(0)
}, 300_000)

test('edges that start while the queue is away take everything', async () => {
  gate.close()
  await restartEdges()
  const load = start({ run: 'away', all_bad: false, calls_may_be_lost: true })
  await load.until(2 * between)
  await cluster.proxy.kill()
  await cluster.proxy.start(throughGate)
  await load.until(between)
  gate.open()
  const accounts = await load.expectBalance('the queue away at the start')
  expect(accounts.otlp.untold).toBe(0)
}, 300_000)

test('a full spool: exporters are told to come later, completions go on, the ledger counts', async () => {
  await restartEdges({ LOOPTRACE_SPOOL_BYTES_MAX: `${spool_bytes_min}` })
  const from_ms = Date.now()
  gate.close()
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
  const told = await Promise.all((['protobuf', 'json', 'grpc', 'api'] as const).map(oneOf))
  for (const one of told) expect(one).toMatchObject({ outcome: 'refused', may_retry_after: true })

  const calls = startLoad({
    ...{ base_url: () => cluster.proxy.base_url, project_key: cluster.login.project_key },
    ...{ run: 'full', clients: 2, calls_max: 30, padding_bytes: 20_000 },
  })
  await eventually('the calls are answered', () => calls.calls.length === 30, {
    timeout_ms: 30_000,
  })
  // It tries for some seconds before it gives a record up; others are in the spool or on their way.
  await eventually('records are lost', async () => (await pendingCalls()) === 0, {
    timeout_ms: 30_000,
    interval_ms: 50,
  })
  gate.open()
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

async function pendingCalls(): Promise<number> {
  return (await scrape(cluster.proxy.management_url))('looptrace_proxy_records_pending')
}

function refused(parcels: readonly { way: ParcelWay; told: readonly Told[] }[], way: string) {
  return parcels
    .filter((parcel) => parcel.way === way)
    .flatMap(({ told }) => told.filter(({ outcome }) => outcome === 'refused'))
}

/** Sends one parcel that no spool of the smallest size has room for beside others. */
async function oneOf(way: ParcelWay): Promise<Told> {
  const about = { run: 'refused', client: 9, number: 0, padding_bytes: 400_000 }
  const parcel = parcelOf({ way, ...about })
  if (way !== 'grpc') return httpSender(targets())(parcel)
  const grpc = grpcSender(targets())
  const told = await grpc.send(parcel)
  grpc.close()
  return told
}
