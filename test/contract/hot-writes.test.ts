import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  dayOf,
  openClickHouseLedgerStore,
  openPostgresStore,
} from '../../src/capabilities/storage/index.ts'
import { createHotWrites } from '../../src/capabilities/store-routing/index.ts'
import { findHotState } from '../../src/capabilities/store-routing/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { openIngestBench } from '../support/ingest.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { traceOf } from '../support/records.ts'
import { type FrameRow, observationRow, rowFrame, traceRow } from '../support/row-frames.ts'
import { tcpGate } from '../support/tcp-gate.ts'

const hour = 3_600_000_000_000n
const url = await testPostgres()
const gate = await tcpGate(url)
let hot: HotWindow
let now: bigint

beforeAll(async () => {
  hot = await openHotWindow({ url: gate.url })
  now = BigInt(hot.clock.at_ms) * 1_000_000n
})
afterAll(async () => {
  await hot?.close()
  await gate[Symbol.asyncDispose]()
})

function bench(metrics = createMetrics()) {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const store = { ...hot.store, ...hot.records, ...openClickHouseLedgerStore(hot) }
  const second = createHotWrites({ ...hot, logger, metrics, retry_delay_ms: 1 })
  return openIngestBench({ store, url: gate.url, second })
}

async function publish(
  to: Awaited<ReturnType<typeof bench>>,
  project_id: string,
  rows: readonly FrameRow[],
  message_id: string = randomUUID(),
) {
  const requests = [{ ingest_request_id: randomUUID(), rows }]
  const data = rowFrame({ project_id, message_id, requests })
  await to.queue.publish({ id: message_id, subject: `ingest.${project_id}`, data })
}

const rowsAt = (project_id: string, starts: readonly bigint[], given: Partial<Observation> = {}) =>
  starts.map((start_time, at) =>
    observationRow({
      project_id,
      trace_id: newId(),
      observation_id: `o${at}`,
      start_time,
      ...given,
    }),
  )

async function inClickHouse(project_id: string): Promise<number> {
  const [row] = await hot.columnar.query<{ rows: string }>(
    'SELECT count() AS rows FROM (SELECT DISTINCT trace_id, observation_id FROM observations WHERE project_id = {project_id:UUID})',
    { project_id },
  )
  return Number(row?.rows)
}

const stateOf = (project_id: string) => findHotState(hot.db, project_id, { from: 0, to: 1_000_000 })

async function settledItems(project_id: string): Promise<number> {
  const ledger = openClickHouseLedgerStore(hot)
  const sums = await ledger.sums(project_id, {
    from_ms: 0,
    to_ms: Date.now() + 86_400_000,
    lost_before_ms: undefined,
  })
  return sums.reduce((sum, { stored }) => sum + stored, 0)
}

test('rows of the hot window are in both stores, others only in ClickHouse', async () => {
  const [both, one] = [await hot.newProject(), await hot.newProject()]
  await hot.route(both)
  await using to = await bench()
  const starts = [now, now - 10n * hour, now - 49n * hour, now - 51n * hour, now - 900n * hour]
  for (const project_id of [both, one]) {
    const trace = traceRow(traceOf({ project_id, time: now }))
    await publish(to, project_id, [...rowsAt(project_id, starts), trace])
  }
  await to.startWorker()
  await to.settled()
  expect([await inClickHouse(both), await inClickHouse(one)]).toEqual([5, 5])
  expect(await hot.rowsIn('hot_observations', both)).toBe(3)
  expect(await hot.rowsIn('hot_traces', both)).toBe(1)
  expect(await hot.rowsIn('hot_observations', one)).toBe(0)
  expect(await settledItems(both)).toBe(5)
  expect((await stateOf(both))?.gaps).toEqual([])
})

test('every field is as in ClickHouse, except for U+0000; the later write wins', async () => {
  const project_id = await hot.newProject()
  await hot.route(project_id)
  await using to = await bench()
  const given = observationOf({
    project_id,
    trace_id: newId(),
    start_time: now + 123_456_789n,
    end_time: now + 987_654_321_987n,
    input: 'é\\u0000 "🙂" \u0000 \\',
    cost_usd: '0.000000001',
    reasoning_tokens: 2 ** 50,
    tool_calls: [{ id: '1', name: 'a', arguments: '{"a":"\\u0000"}' }],
    attributes: { 'a\u0000': 'b\u0000' },
  })
  await publish(to, project_id, [observationRow(given)], 'm1')
  await to.startWorker()
  await to.settled()
  const hotStore = openPostgresStore(hot)
  const theirs = await hot.store.observation(project_id, given)
  expect(theirs?.input).toBe(given.input)
  expect(await hotStore.observation(project_id, given)).toEqual({
    ...theirs,
    input: given.input.replace('\u0000', '\ufffd'),
    attributes: { 'a\ufffd': 'b\ufffd' },
  })
  for (const [output, message_id] of [
    ['second', 'm2'],
    ['third', 'm3'],
  ] as const) {
    await publish(to, project_id, [observationRow({ ...given, output })], message_id)
    // Of two concurrent writes, either may be the later one.
    await to.settled()
  }
  const [mine, wanted] = [
    await hotStore.observation(project_id, given),
    await hot.store.observation(project_id, given),
  ]
  expect([mine?.output, wanted?.output]).toEqual(['third', 'third'])
})

test('rows that PostgreSQL refuses are recorded as missing, for that project only', async () => {
  const [bad, good] = [await hot.newProject(), await hot.newProject()]
  await hot.pool.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin if new.name = 'refused' then raise exception 'no room'; end if; return new; end $$`)
  await hot.pool.query(`create trigger refuse before insert on hot_observations
    for each row execute function refuse()`)
  await Promise.all([hot.route(bad), hot.route(good)])
  await using to = await bench()
  await publish(to, bad, rowsAt(bad, [now, now - hour], { name: 'refused' }))
  await publish(to, good, rowsAt(good, [now, now - hour]))
  await to.startWorker()
  await to.settled()
  await hot.pool.query('drop trigger refuse on hot_observations')
  expect([await inClickHouse(bad), await inClickHouse(good)]).toEqual([2, 2])
  expect(await hot.rowsIn('hot_observations', bad)).toBe(0)
  expect(await hot.rowsIn('hot_observations', good)).toBe(2)
  const days = [...new Set([dayOf(now - hour), dayOf(now)])]
  const reason = 'a write failed: no room'
  expect((await stateOf(bad))?.gaps).toEqual(days.map((day) => ({ day, reason })))
  expect((await stateOf(good))?.gaps).toEqual([])
  expect(await settledItems(bad)).toBe(2)
})

test('a row that is far ahead leaves a gap where it will be read', async () => {
  const project_id = await hot.newProject()
  await hot.route(project_id)
  await using to = await bench()
  await publish(to, project_id, rowsAt(project_id, [now, now + 100n * hour]))
  await to.startWorker()
  await to.settled()
  expect((await stateOf(project_id))?.gaps).toMatchObject([{ day: dayOf(now + 100n * hour) }])
  expect(await hot.rowsIn('hot_observations', project_id)).toBe(1)
})

test('while PostgreSQL is unavailable rows are in ClickHouse, and later in both, counted once', async () => {
  const project_id = await hot.newProject()
  await hot.route(project_id)
  await using to = await bench()
  await to.startWorker()
  gate.close()
  await publish(to, project_id, rowsAt(project_id, [now, now - hour]))
  await eventually('rows in ClickHouse', async () => (await inClickHouse(project_id)) === 2)
  expect((await to.queue.stats()).pending).toBe(1)
  gate.open()
  await to.settled()
  expect(await hot.rowsIn('hot_observations', project_id)).toBe(2)
  expect((await stateOf(project_id))?.gaps).toEqual([])
  expect(await settledItems(project_id)).toBe(2)
})
