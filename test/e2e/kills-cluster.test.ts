import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type IngestRun, type IngestRunOptions, startIngestRun } from '../support/ingest-run.ts'
import { killsOfRun, msFor } from '../support/kills-of-run.ts'
import { scrape } from '../support/metrics.ts'
import { type Held, holdBeforeRollUp, holdInsert } from '../support/mid-batch.ts'
import { printCounts } from '../support/print-counts.ts'
import { recordCounts } from '../support/quiet.ts'
import { openTestColumnar } from '../support/single-machine.ts'
import { budget, soakOnly } from '../support/suite/budget.ts'
import { type TcpGate, tcpGate } from '../support/tcp-gate.ts'

/**
 * kill -9 under load on every ingest path at once, for each process of a cluster in turn. The long
 * run is `KILLS=20 npx vitest run test/e2e/kills-cluster.test.ts`.
 */
const kills = killsOfRun({ test: 1, soak: 4 })
/** The edge answers calls before the queue has them, so its kills are the most. */
const edgeKills = killsOfRun({ test: 2, soak: 20 })
const beforeEdgeKill = 120
const cuts = budget({ test: 1, soak: 3 })
/** Parcels accepted between two kills. */
const between = 30
const back_ms_max = 30_000
const maxYoungDeaths = 10
const grownUpMs = 11_000

let cluster: Cluster
let columnar: ColumnarServer
/** In the network tests edges reach the queue through this gate; the worker never does. */
let gate: TcpGate

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      // Batches follow each other closely, so that a kill meets an unfinished one; messages of a
      // killed worker are redelivered soon.
      LOOPTRACE_INGEST_BATCH_WAIT_MS: '20',
      LOOPTRACE_INGEST_ACK_WAIT_MS: '2000',
      LOOPTRACE_INGEST_TAKE_OVER_MS: '2000',
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 4, delay_ms: 2 } }] },
  })
  columnar = openTestColumnar(cluster.clickhouse.server())
  gate = await tcpGate(cluster.nats.url)
})

afterAll(async () => {
  await columnar?.close()
  await cluster?.stop()
  await gate?.[Symbol.asyncDispose]()
})

function start(options: IngestRunOptions): IngestRun {
  const { proxy, api, worker, login } = cluster
  return startIngestRun(
    {
      otlp_url: () => proxy.base_url,
      otlp_grpc_address: () => proxy.otlp_grpc_address,
      api_url: () => api.base_url,
      project_key: login.project_key,
      processes: () => ({
        edges: [proxy.management_url, api.management_url],
        worker: worker.management_url,
      }),
      reader: () => ({ api_url: api.base_url, project_key: login.project_key }),
      withColumnar: (work) => work(columnar),
    },
    options,
  )
}

test(
  'a killed worker: everything is stored once, and the ledger agrees',
  async () => {
    // Without merges the rows of redelivered batches stay, and readers must ignore them.
    await columnar.command('system stop merges')
    const before = await proxyCounts()
    const load = start({ run: 'worker' })
    const places: (() => Promise<Held>)[] = [
      async () => ({ release: async () => undefined }),
      () => holdBeforeRollUp(cluster.postgres.server().url),
      () => holdInsert(cluster.clickhouse.server().pid(), () => load.until(between)),
    ]
    // A long run kills at each point, a short one where most is unfinished.
    const workerKills = kills === 1 ? 1 : Math.max(kills, places.length)
    for (let kill = 0; kill < workerKills; kill += 1) {
      await load.until(between)
      const held = await places.at(-1 - (kill % places.length))?.()
      await cluster.worker.kill()
      await held?.release()
      await cluster.worker.start()
    }
    await load.until(between)
    const { proxy } = await load.expectBalance(`${workerKills} kills of the worker`)
    const after = await proxyCounts()
    expect(after.published - before.published).toBe(proxy.stored)
    expect(after.lost).toBe(before.lost)
    await columnar.command('system start merges')
  },
  msFor(kills),
)

test(
  'a killed edge: every span that was answered 200 and every answered call is stored, once',
  async () => {
    // Exports without a valid span, which only the edge knows, may be lost with it.
    const load = start({ run: 'edge', all_bad: false, callers: 16, calls_may_fail: true })
    let recovered = 0
    for (let kill = 0; kill < edgeKills; kill += 1) {
      await load.until(beforeEdgeKill)
      recovered += await recoveredCalls()
      await cluster.proxy.kill()
      await cluster.proxy.start()
    }
    await load.until(beforeEdgeKill)
    recovered += await recoveredCalls()
    const title = `${edgeKills} kills of the edge`
    const { proxy } = await load.expectBalance(title)
    printCounts(`${title}, journal`, { recovered })
    expect(proxy.told_accepted).toBeGreaterThan(edgeKills * between)
  },
  msFor(edgeKills),
)

test(
  'a killed api: every record that was answered 202 is stored, and a key is one request',
  async () => {
    const clients = { protobuf: 1, grpc: 1, api: 4 }
    const load = start({ run: 'api', all_bad: false, clients })
    for (let kill = 0; kill < kills; kill += 1) {
      await load.until(between)
      await cluster.api.kill()
      await cluster.api.start()
    }
    await load.until(between)
    await load.expectBalance(`${kills} kills of the api`)
  },
  msFor(kills),
)

/** Calls that the current proxy found in the journal of the one before. */
async function recoveredCalls(): Promise<number> {
  const value = await scrape(cluster.proxy.management_url)
  return value('looptrace_proxy_journal_recovered_total', { result: 'published' })
}

const proxyCounts = () => recordCounts(cluster.proxy.management_url)

test(
  'a killed nats-server: unacknowledged messages are published again, once',
  async () => {
    const before = await proxyCounts()
    const load = start({ run: 'nats' })
    for (let kill = 0; kill < kills; kill += 1) {
      await load.until(between)
      // Messages that it received and had not acknowledged are lost with it.
      cluster.nats.pause()
      await load.until(between)
      await cluster.nats.kill()
      await load.until(between)
      await cluster.nats.restart()
    }
    await load.until(between)
    await load.expectBalance(`${kills} kills of nats-server`)
    expect((await proxyCounts()).spooled).toBeGreaterThan(before.spooled)
  },
  msFor(kills),
)

test(
  'a killed ClickHouse: batches wait for it, and are inserted once',
  async () => {
    const load = start({ run: 'clickhouse' })
    await killStores(load, () => cluster.clickhouse.server().pid())
    await load.expectBalance(`${kills} kills of ClickHouse`)
  },
  msFor(kills),
)

test(
  'a killed PostgreSQL: batches wait for it, and are inserted once',
  async () => {
    const load = start({ run: 'postgres' })
    await killStores(load, () => cluster.postgres.server().pid)
    await load.expectBalance(`${kills} kills of PostgreSQL`)
  },
  msFor(kills),
)

/**
 * Kills a store's process and waits for the one that its supervisor starts. A supervisor gives up a
 * server that repeatedly dies young, so in a long run each lives longer than that.
 */
async function killStores(load: IngestRun, pid: () => number | undefined): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    await load.until(between)
    if (kills > maxYoungDeaths) await sleep(grownUpMs)
    const killed = await eventually('the store runs', pid, { timeout_ms: back_ms_max })
    process.kill(killed, 9)
    await eventually('the store is back', () => ![undefined, killed].includes(pid()), {
      timeout_ms: back_ms_max,
    })
  }
  await load.until(between)
}

async function restartEdges(): Promise<void> {
  const throughGate = { LOOPTRACE_NATS_URL: gate.url }
  await Promise.all([cluster.proxy.stop(), cluster.api.stop()])
  await Promise.all([cluster.proxy.start(throughGate), cluster.api.start(throughGate)])
}

test('the network between edges and the queue is cut: everything is spooled, and nothing is duplicated', async () => {
  await restartEdges()
  const load = start({ run: 'cut' })
  const before = await proxyCounts()
  for (let cut = 0; cut < cuts; cut += 1) {
    await load.until(between)
    // The queue stores published messages, and its acknowledgements never arrive.
    gate.mute()
    await load.until(between / 4)
    gate.close()
    await load.until(between)
    gate.open()
  }
  await load.until(between)
  const accounts = await load.expectBalance(`the network cut ${cuts} times`)
  const { spooled } = await proxyCounts()
  printCounts(`the network cut ${cuts} times`, { spooled: spooled - before.spooled })
  expect(spooled).toBeGreaterThan(before.spooled)
  expect(accounts.otlp.untold).toBe(0)
}, 300_000)

test(
  'edges that start while the queue is unavailable accept everything',
  soakOnly('outage.test.ts starts a proxy while NATS is unavailable, and kills it.', {
    timeout: 300_000,
  }),
  async () => {
    gate.close()
    await restartEdges()
    const load = start({ run: 'away', all_bad: false, calls_may_fail: true })
    await load.until(2 * between)
    await cluster.proxy.kill()
    await cluster.proxy.start({ LOOPTRACE_NATS_URL: gate.url })
    await load.until(between)
    gate.open()
    const accounts = await load.expectBalance('the queue unavailable at the start')
    expect(accounts.otlp.untold).toBe(0)
  },
)

test('the roles logged nothing unexpected', () => {
  expect(cluster.output()).not.toContain('ledger entries were dropped')
})
