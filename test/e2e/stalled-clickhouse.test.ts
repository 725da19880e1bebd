import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { type Api, apiByToken } from '../support/clients/api-reader.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { startIngestLoad } from '../support/ingest-load.ts'
import { type Parcel, parcelOf } from '../support/ingest-parcels.ts'
import { type IngestRun, type IngestRunOptions, startIngestRun } from '../support/ingest-run.ts'
import { httpSender } from '../support/ingest-senders.ts'
import { ledgerSums, untilIngestQuiet } from '../support/ledger-sums.ts'
import { scrape } from '../support/metrics.ts'
import { printCounts } from '../support/print-counts.ts'
import { watchMemory } from '../support/resident-memory.ts'
import { openTestColumnar } from '../support/single-machine.ts'

const mib = 1024 * 1024
/** Bytes sent while the store is stalled: well above the allowed growth of a process. */
const stalled_bytes = 288 * mib
const padding_bytes = 512 * 1024
/**
 * Allowed growth of a process: for the worker two batches, raw, decompressed and as rows; for the
 * edge the requests in flight. The option below also bounds the heap.
 */
const growth_bytes_max = 192 * mib
const bounds = {
  LOOPTRACE_INGEST_BATCH_BYTES_MAX: `${4 * mib}`,
  LOOPTRACE_RECORD_INFLIGHT_BYTES_MAX: `${16 * mib}`,
}

let cluster: Cluster
let columnar: ColumnarServer
let admin: Api

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      ...bounds,
      // A nearly full heap is collected, however little processor time the test gets.
      NODE_OPTIONS: '--max-old-space-size=128',
      LOOPTRACE_INGEST_BATCH_WAIT_MS: '20',
      LOOPTRACE_INGEST_ACK_WAIT_MS: '4000',
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 4, delay_ms: 2 } }] },
  })
  columnar = openTestColumnar(cluster.clickhouse.server())
  admin = await apiByToken({ api_url: cluster.api.base_url, login: cluster.login })
})

afterAll(async () => {
  await columnar?.close()
  await cluster?.stop()
})

const targets = () => ({
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
  const withColumnar = <T>(work: (of: ColumnarServer) => Promise<T>) => work(columnar)
  return startIngestRun({ ...targets(), processes, reader, withColumnar }, options)
}

test('a stalled store: memory is bounded, and nothing is lost when it continues', async () => {
  const warm = start({ run: 'warm' })
  await warm.until(200)
  await warm.expectBalance('before the store stalls')
  const pid = cluster.clickhouse.server().pid()
  if (pid === undefined) throw new Error('ClickHouse does not run')
  const from_ms = Date.now()
  const memory = await watchMemory({ edge: cluster.proxy.pid, worker: cluster.worker.pid })
  process.kill(pid, 'SIGSTOP')
  const parcels_max = Math.ceil(stalled_bytes / padding_bytes)
  const clients = { protobuf: 3, grpc: 1 }
  const heavy = startIngestLoad({
    ...targets(),
    ...{ run: 'heavy', clients, padding_bytes, parcels_max, pause_ms: 0 },
  })
  try {
    await eventually('the heavy load is taken', () => heavy.taken() === parcels_max, {
      timeout_ms: 150_000,
    })
    expect(heavy.taken()).toBe(parcels_max)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  const sent = await heavy.stop()
  await untilIngestQuiet(processes(), { timeout_ms: 120_000 })
  const grown = await memory.stop()
  printCounts('a stalled store', {
    sent_mib: stalled_bytes / mib,
    ...Object.fromEntries(
      Object.entries(grown).map(([name, bytes]) => [
        `${name}_grew_by_mib`,
        Math.round(bytes / mib),
      ]),
    ),
  })
  for (const bytes of Object.values(grown)) expect(bytes).toBeLessThan(growth_bytes_max)
  const stored = await columnar.query<{ spans: string }>(
    'select count() as spans from observations final where startsWith(task_id, {run: String})',
    { run: 'heavy-' },
  )
  expect(Number(stored[0]?.spans)).toBe(2 * parcels_max)
  expect(await ledgerSince(from_ms)).toMatchObject({ pending: 0, lost: 0 })
  expect((await ledgerSince(from_ms)).accepted).toBeGreaterThanOrEqual(itemsOf(sent))
}, 300_000)

type Letter = { dead_letter_id: string; kind: string; reason: string }

const letters = '/api/v2/observability/dead-letters'

test('a row that the store refuses is dead-lettered alone, and stored by a replay', async () => {
  await untilIngestQuiet(processes())
  const from_ms = Date.now()
  const good = parcelsOf('good', 20)
  const poisoned = parcelsOf('poisoned', 1)
  await columnar.command(
    "alter table observations add constraint no_poison check not startsWith(name, 'poisoned')",
  )
  const send = httpSender(targets())
  const outcomes = await Promise.all([...good, ...poisoned].map(send))
  expect(outcomes.filter(({ outcome }) => outcome !== 'taken')).toEqual([])
  const letter = await eventually('it is dead-lettered', async () => (await deadLetters())[0], {
    timeout_ms: 30_000,
    interval_ms: 50,
  })
  await untilIngestQuiet(processes())
  expect(await deadLetters()).toHaveLength(1)
  expect(letter).toMatchObject({ kind: 'ingest', reason: expect.stringContaining('no_poison') })
  const rejected = itemsOf(poisoned)
  const all = itemsOf([...good, ...poisoned])
  const before = await ledgerSince(from_ms)
  expect(before).toMatchObject({ accepted: all, rejected, stored: all - rejected })
  expect(before.rejected_by_reason).toEqual([{ reason: 'refused_by_store', items: rejected }])
  expect(await namesStored()).toEqual({ good: itemsOf(good), poisoned: 0 })

  await columnar.command('alter table observations drop constraint no_poison')
  const replayed = await admin.post(`${letters}/${letter.dead_letter_id}/replay`)
  expect(replayed.status).toBe(202)
  await eventually('it is stored', async () => (await namesStored()).poisoned === rejected, {
    timeout_ms: 30_000,
  })
  await untilIngestQuiet(processes())
  const after = await ledgerSince(from_ms)
  expect(after).toMatchObject({ accepted: all, rejected: 0, stored: all, pending: 0, lost: 0 })
  expect(await deadLetters()).toEqual([])
  printCounts('a poisoned row', { before: before.stored, after: after.stored, accepted: all })
}, 300_000)

/** Skips parcels with an invalid record. */
function parcelsOf(run: string, count: number): Parcel[] {
  return Array.from({ length: count }, (_, client) =>
    parcelOf({ way: 'protobuf', run, client, number: 0 }),
  )
}

function itemsOf(parcels: readonly Parcel[]): number {
  return parcels.reduce((sum, { items }) => sum + items, 0)
}

async function ledgerSince(from_ms: number) {
  return (await ledgerSums(reader(), { from_ms, to_ms: Date.now() + 1 })).otlp
}

async function deadLetters(): Promise<Letter[]> {
  const { status, body } = await admin.get(letters)
  expect(status).toBe(200)
  return body['dead_letters'] as Letter[]
}

async function namesStored(): Promise<{ good: number; poisoned: number }> {
  const [row] = await columnar.query<{ good: string; poisoned: string }>(
    `select countIf(startsWith(name, 'good')) as good,
       countIf(startsWith(name, 'poisoned')) as poisoned from observations final`,
  )
  return { good: Number(row?.good), poisoned: Number(row?.poisoned) }
}

test('the worker dead-lettered exactly one message', async () => {
  const value = await scrape(cluster.worker.management_url)
  expect(value('looptrace_ingest_poisoned_messages_total')).toBe(1)
})
