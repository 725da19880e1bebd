import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  accountOf,
  expectFaithfulRows,
  type Kill,
  lostCalls,
  oldestLost_ms,
  recordedOf,
} from '../support/bookkeeping.ts'
import { eventually } from '../support/eventually.ts'
import { type Load, startLoad } from '../support/load.ts'
import { scrape } from '../support/metrics.ts'
import { type Held, holdBeforeRollUp, holdInsert } from '../support/mid-batch.ts'
import { printCounts } from '../support/print-counts.ts'
import { recordCounts, untilAllRecorded } from '../support/quiet.ts'
import { expectRollUps } from '../support/roll-ups.ts'
import {
  columnarAtRest,
  type SingleMachine,
  startSingleMachine,
} from '../support/single-machine.ts'

const kills = 3
/** So much load is between two kills. */
const callsBetween = 60
const restart_ms_max = 30_000

let machine: SingleMachine

beforeAll(async () => {
  machine = await startSingleMachine({
    // Batches follow each other closely, so that a kill meets one in the making.
    env: { LOOPTRACE_INGEST_BATCH_WAIT_MS: '20', LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0' },
    script: { steps: [{ match: { stream: true }, stream: { chunks: 4, delay_ms: 2 } }] },
  })
})

afterAll(() => machine[Symbol.asyncDispose]())

const reader = () => ({
  api_url: machine.service.base_url,
  project_key: machine.login.project_key,
})

function loadOf(run: string): Load {
  return startLoad({
    base_url: () => machine.service.base_url,
    project_key: machine.login.project_key,
    run,
    clients: 6,
    calls_max: 4_000,
  })
}

async function untilCalls(load: Load, more: number): Promise<void> {
  const enough = load.calls.length + more
  await eventually(`${more} more calls`, () => load.calls.length >= enough, {
    timeout_ms: restart_ms_max,
  })
}

async function quiet() {
  const { management_url } = machine.service
  return untilAllRecorded({ proxy: management_url, worker: management_url })
}

/** Stops the service, reads its tables, and starts it again. */
async function recordedAtRest(run: string) {
  await machine.service.stop()
  await using columnar = await columnarAtRest(machine.directory)
  return await recordedOf(columnar, run)
}

async function killSupervised(server: 'postgres' | 'clickhouse'): Promise<void> {
  const { management_url } = machine.service
  const counter = `looptrace_embedded_${server}_restarts_total`
  const before = (await scrape(management_url))(counter)
  process.kill(await (server === 'postgres' ? machine.postgresPid() : machine.clickHousePid()), 9)
  await eventually(
    `${server} is back`,
    async () => (await scrape(management_url))(counter) > before,
    { timeout_ms: restart_ms_max, interval_ms: 50 },
  )
}

test('embedded servers killed in mid-batch lose and repeat nothing', async () => {
  const run = 'servers'
  const load = loadOf(run)
  for (let kill = 0; kill < kills; kill += 1) {
    await untilCalls(load, callsBetween)
    await killSupervised('postgres')
    await untilCalls(load, callsBetween)
    await killSupervised('clickhouse')
  }
  const calls = await load.stop()
  const counted = await quiet()
  const recorded = await recordedAtRest(run)
  const account = accountOf(calls, recorded)
  printCounts(`role all, ${kills} kills each of postgres and clickhouse`, {
    ...account,
    counted_as_lost: counted.lost,
  })

  expect(account.sent).toBeGreaterThan(2 * kills * callsBetween)
  expect(account).toMatchObject({ seen_otherwise: 0, duplicates: 0, lost: 0 })
  expect(counted).toMatchObject({ published: account.recorded, lost: 0 })
  expectFaithfulRows(calls, recorded)
  await machine.service.start()
  await expectRollUps(reader(), recorded)
}, 300_000)

test('what was durable when the whole service was killed is recorded once', async () => {
  const run = 'service'
  const load = loadOf(run)
  const places: (() => Promise<Held>)[] = [
    async () => ({ release: async () => undefined }),
    async () => holdBeforeRollUp(await machine.postgresUrl()),
    async () => holdInsert(await machine.clickHousePid(), () => untilCalls(load, callsBetween)),
  ]
  const killed: Kill[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    await untilCalls(load, callsBetween)
    const held = await places[kill % places.length]?.()
    const { published } = await recordCounts(machine.service.management_url)
    const sent_ms = Date.now()
    await machine.service.kill()
    killed.push({ sent_ms, gone_ms: Date.now(), published })
    await held?.release()
    await machine.service.start()
  }
  await untilCalls(load, callsBetween)
  const calls = await load.stop()
  const last = await quiet()
  const recorded = await recordedAtRest(run)
  const account = accountOf(calls, recorded)
  const durable = killed.reduce((sum, { published }) => sum + published, last.published)
  printCounts(`role all itself, ${kills} kills`, {
    ...account,
    durable_for_sure: durable,
    age_of_the_oldest_lost_ms: oldestLost_ms(lostCalls(calls, recorded), killed),
    counted_as_lost: last.lost,
  })

  expect(account.recorded).toBeGreaterThanOrEqual(durable)
  expect(account).toMatchObject({ duplicates: 0 })
  expect(account.seen_complete).toBeGreaterThan(kills * callsBetween)
  expectFaithfulRows(calls, recorded)
  await machine.service.start()
  await expectRollUps(reader(), recorded)
}, 300_000)
