import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import {
  type IngestRun,
  type IngestRunOptions,
  type IngestShape,
  startIngestRun,
} from '../support/ingest-run.ts'
import { killsOfRun, msFor } from '../support/kills-of-run.ts'
import { scrape } from '../support/metrics.ts'
import { type Held, holdBeforeRollUp, holdInsert } from '../support/mid-batch.ts'
import { untilAllRecorded } from '../support/quiet.ts'
import {
  columnarAtRest,
  type SingleMachine,
  startSingleMachine,
} from '../support/single-machine.ts'

/**
 * kill -9 under load on every ingest path at once, with a single process. The long run is `KILLS=20
 * npx vitest run test/e2e/kills-single-machine.test.ts`.
 */
const kills = killsOfRun({ test: 1, soak: 3 })
/** Parcels accepted between two kills. */
const between = 30
const restart_ms_max = 30_000

let machine: SingleMachine

beforeAll(async () => {
  machine = await startSingleMachine({
    // Batches follow each other closely, so that a kill meets an unfinished one.
    env: {
      LOOPTRACE_INGEST_BATCH_WAIT_MS: '20',
      LOOPTRACE_INGEST_TAKE_OVER_MS: '2000',
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 4, delay_ms: 2 } }] },
  })
})

afterAll(() => machine?.[Symbol.asyncDispose]())

function start(options: IngestRunOptions): IngestRun {
  const { service, login } = machine
  const shape: IngestShape = {
    otlp_url: () => service.base_url,
    otlp_grpc_address: () => service.otlp_grpc_address,
    api_url: () => service.base_url,
    project_key: login.project_key,
    processes: () => ({ edges: [service.management_url], worker: service.management_url }),
    reader: () => ({ api_url: service.base_url, project_key: login.project_key }),
    withColumnar: async (work) => {
      await service.stop()
      const columnar = await columnarAtRest(machine.directory)
      const result = await work(columnar).finally(() => columnar[Symbol.asyncDispose]())
      await service.start()
      return result
    },
  }
  return startIngestRun(shape, options)
}

test(
  'killed servers of one machine: batches wait for them, and are inserted once',
  async () => {
    const load = start({ run: 'servers' })
    for (let kill = 0; kill < kills; kill += 1) {
      await load.until(between)
      await killSupervised('postgres')
      await load.until(between)
      await killSupervised('clickhouse')
    }
    await load.until(between)
    const title = `role all, ${kills} kills each of postgres and clickhouse`
    const { counts, proxy } = await balanced(load, title)
    expect(counts).toMatchObject({ published: proxy.stored, lost: 0 })
  },
  msFor(2 * kills),
)

test(
  'a killed role all: every accepted record is stored, and the ledger agrees',
  async () => {
    const load = start({ run: 'service', all_bad: false, callers: 8, calls_may_fail: true })
    const places: (() => Promise<Held>)[] = [
      async () => ({ release: async () => undefined }),
      async () => holdBeforeRollUp(await machine.postgresUrl()),
      async () => holdInsert(await machine.clickHousePid(), () => load.until(between)),
    ]
    for (let kill = 0; kill < kills; kill += 1) {
      await load.until(between)
      const held = await places[kill % places.length]?.()
      await machine.service.kill()
      await held?.release()
      await machine.service.start()
    }
    await load.until(between)
    await balanced(load, `role all itself, ${kills} kills`)
  },
  msFor(2 * kills),
)

/**
 * Ends the load, expects its account to balance, and reads the proxy's counters before it stops.
 */
async function balanced(load: IngestRun, title: string) {
  await load.stop()
  const { management_url } = machine.service
  const counts = await untilAllRecorded({ proxy: management_url, worker: management_url })
  const { proxy } = await load.expectBalance(title)
  return { counts, proxy }
}

async function killSupervised(server: 'postgres' | 'clickhouse'): Promise<void> {
  const { management_url } = machine.service
  const counter = `looptrace_embedded_${server}_restarts_total`
  const before = (await scrape(management_url))(counter)
  process.kill(await (server === 'postgres' ? machine.postgresPid() : machine.clickHousePid()), 9)
  const isBack = async () => (await scrape(management_url))(counter) > before
  await eventually(`${server} is back`, isBack, { timeout_ms: restart_ms_max, interval_ms: 50 })
}
