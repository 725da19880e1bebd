import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Columnar } from '../../src/platform/columnar/index.ts'
import {
  accountOf,
  expectFaithfulRows,
  type Kill,
  lostCalls,
  oldestLost_ms,
  recordedOf,
} from '../support/bookkeeping.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { type Load, startLoad } from '../support/load.ts'
import { scrape } from '../support/metrics.ts'
import { type Held, holdBeforeRollUp, holdInsert } from '../support/mid-batch.ts'
import { printCounts } from '../support/print-counts.ts'
import { type RecordCounts, recordCounts, untilAllRecorded } from '../support/quiet.ts'
import { expectRollUps, type Reader } from '../support/roll-ups.ts'
import { openTestColumnar } from '../support/single-machine.ts'

const kills = 3
/** So much load is between two kills. */
const callsBetween = 60
const back_ms_max = 30_000

let cluster: Cluster
let columnar: Columnar

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      // Batches follow each other closely, so that a kill meets one in the making; what a killed
      // worker held comes again soon.
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

function loadOf(run: string): Load {
  return startLoad({
    base_url: () => cluster.proxy.base_url,
    project_key: cluster.login.project_key,
    run,
    clients: 6,
    calls_max: 12_000,
  })
}

async function untilCalls(load: Load, more: number): Promise<void> {
  const enough = load.calls.length + more
  await eventually(`${more} more calls`, () => load.calls.length >= enough, {
    timeout_ms: back_ms_max,
  })
}

/** Waits for the end of the recording, and holds what the clients saw against what is stored. */
async function expectExactlyOnce(title: string, run: string, load: Load): Promise<void> {
  const before = countsBefore
  const calls = await load.stop()
  const counted = await untilQuiet()
  countsBefore = counted
  const recorded = await recordedOf(columnar, run)
  const account = accountOf(calls, recorded)
  printCounts(`cluster, ${title}`, {
    ...account,
    spooled_messages: counted.spooled - before.spooled,
    counted_as_lost: counted.lost - before.lost,
  })
  expect(account.sent).toBeGreaterThan(kills * callsBetween)
  expect(account).toMatchObject({ seen_otherwise: 0, duplicates: 0, lost: 0 })
  expect(counted.published - before.published).toBe(account.recorded)
  expect(counted.lost).toBe(before.lost)
  expectFaithfulRows(calls, recorded)
  await expectRollUps(reader(), recorded)
}

function untilQuiet(): Promise<RecordCounts> {
  const { proxy, worker } = cluster
  return untilAllRecorded({ proxy: proxy.management_url, worker: worker.management_url })
}

function reader(): Reader {
  return { api_url: cluster.api.base_url, project_key: cluster.login.project_key }
}

let countsBefore: RecordCounts = { published: 0, lost: 0, pending: 0, spooled: 0, in_spool: 0 }

test('a worker killed in mid-batch loses and repeats nothing', async () => {
  // Without merges the rows of redelivered batches stay, and every reader has to do without them.
  await columnar.command('system stop merges observations')
  const load = loadOf('worker')
  const places: (() => Promise<Held>)[] = [
    async () => ({ release: async () => undefined }),
    () => holdBeforeRollUp(cluster.postgres.server().url),
    () => holdInsert(cluster.clickhouse.server().pid(), () => untilCalls(load, callsBetween)),
  ]
  for (let kill = 0; kill < 2 * kills; kill += 1) {
    await untilWorking()
    const held = await places[kill % places.length]?.()
    await cluster.worker.kill()
    await held?.release()
    await cluster.worker.start()
  }
  await untilCalls(load, callsBetween)
  await expectExactlyOnce(`${2 * kills} kills of the worker`, 'worker', load)
  await columnar.command('system start merges observations')
}, 300_000)

/** Waits until the worker of now has stored something; so a kill that follows meets it at work. */
async function untilWorking(): Promise<void> {
  await eventually(
    'the worker stores rows',
    async () => {
      const value = await scrape(cluster.worker.management_url)
      return value('looptrace_ingest_rows_stored_total', { kind: 'observations' }) >= callsBetween
    },
    { timeout_ms: back_ms_max },
  )
}

test('a killed nats-server loses and repeats nothing', async () => {
  const load = loadOf('nats')
  for (let kill = 0; kill < kills; kill += 1) {
    await untilCalls(load, callsBetween)
    // What it has been sent and has not acknowledged is gone with it.
    cluster.nats.pause()
    await untilCalls(load, callsBetween)
    await cluster.nats.kill()
    await untilCalls(load, callsBetween)
    await cluster.nats.restart()
  }
  await untilCalls(load, callsBetween)
  await expectExactlyOnce(`${kills} kills of nats-server`, 'nats', load)
  const { spooled } = await recordCounts(cluster.proxy.management_url)
  expect(spooled).toBeGreaterThan(0)
}, 300_000)

test('killed stores lose and repeat nothing', async () => {
  const load = loadOf('stores')
  for (let kill = 0; kill < kills; kill += 1) {
    await untilCalls(load, callsBetween)
    await killStore(() => cluster.postgres.server().pid)
    await untilCalls(load, callsBetween)
    await killStore(() => cluster.clickhouse.server().pid())
  }
  await untilCalls(load, callsBetween)
  await expectExactlyOnce(`${kills} kills each of postgres and clickhouse`, 'stores', load)
}, 300_000)

/** Kills a store's process and waits for the one that its supervisor starts. */
async function killStore(pid: () => number | undefined): Promise<void> {
  const killed = await eventually('the store runs', pid, { timeout_ms: back_ms_max })
  process.kill(killed, 9)
  await eventually('the store is back', () => ![undefined, killed].includes(pid()), {
    timeout_ms: back_ms_max,
  })
}

test('what a killed proxy had handed on is recorded once', async () => {
  const load = loadOf('proxy')
  const killed: Kill[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    await untilCalls(load, callsBetween)
    const { published } = await recordCounts(cluster.proxy.management_url)
    const sent_ms = Date.now()
    await cluster.proxy.kill()
    killed.push({ sent_ms, gone_ms: Date.now(), published })
    await cluster.proxy.start()
  }
  await untilCalls(load, callsBetween)
  const calls = await load.stop()
  const last = await untilQuiet()
  const recorded = await recordedOf(columnar, 'proxy')
  const account = accountOf(calls, recorded)
  const firstPublished = (killed[0]?.published ?? 0) - countsBefore.published
  const durable = [firstPublished, ...killed.slice(1).map(({ published }) => published)].reduce(
    (sum, published) => sum + published,
    last.published,
  )
  printCounts(`cluster, ${kills} kills of the proxy`, {
    ...account,
    handed_on_for_sure: durable,
    age_of_the_oldest_lost_ms: oldestLost_ms(lostCalls(calls, recorded), killed),
    counted_as_lost: last.lost,
  })
  expect(account.recorded).toBeGreaterThanOrEqual(durable)
  expect(account.seen_complete).toBeGreaterThan(kills * callsBetween)
  expect(account.duplicates).toBe(0)
  expectFaithfulRows(calls, recorded)
  await expectRollUps(reader(), recorded)
}, 300_000)
