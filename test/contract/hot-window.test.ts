import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startJobs } from '../../src/capabilities/jobs/index.ts'
import type { RoutingRequest } from '../../src/capabilities/query/index.ts'
import { day_ns, dayOf, openPostgresStore } from '../../src/capabilities/storage/index.ts'
import {
  chooseByRouting,
  hotWindowBackfill,
  hotWindowChores,
  hotWindowTrim,
} from '../../src/capabilities/store-routing/index.ts'
import { findHotState, markGaps } from '../../src/capabilities/store-routing/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { observationOf } from '../support/observations.ts'
import { rowsOf, traceOf } from '../support/records.ts'
import { budget } from '../support/suite/budget.ts'

const hour = 3_600_000_000_000n
let hot: HotWindow
let now: bigint

beforeAll(async () => {
  hot = await openHotWindow()
  now = BigInt(hot.clock.at_ms) * 1_000_000n
})
afterAll(() => hot?.close())

const route: HotWindow['route'] = (...about) => hot.route(...about)

/** Runs jobs of the project until none waits, as one worker. */
async function work(project_id?: string): Promise<void> {
  const { db, source, writer, clock } = hot
  const jobs = startJobs({
    db,
    handlers: [
      hotWindowBackfill({ db, source, writer, settle_ms: 0 }),
      hotWindowTrim({ db, clock }),
    ],
    clock: { now_ms: () => Date.now() },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    settings: { poll_ms: 50 },
  })
  const waiting = async () => {
    const { rows } = await hot.pool.query(
      `select count(*)::int as jobs from job_runs
       where state in ('queued', 'running') and ($1::uuid is null or project_id = $1)`,
      [project_id ?? null],
    )
    return rows[0].jobs
  }
  await expect.poll(waiting, { timeout: 30_000, interval: 50 }).toBe(0)
  await jobs.stop()
}

function observationsOver(project_id: string, hours: number, each = 3): Observation[] {
  return Array.from({ length: hours * each }, (_, at) =>
    observationOf({
      project_id,
      trace_id: newId(),
      observation_id: `o${at}`,
      start_time: now - (BigInt(at) * hour) / BigInt(each) - 1_234_567n,
      input: `in ${at}`,
      tool_calls: [{ id: 'c', name: 'search', arguments: '{}' }],
      attributes: { n: String(at) },
    }),
  )
}

const stateOf = (project_id: string) => findHotState(hot.db, project_id, { from: 0, to: 1_000_000 })

describe('filling a hot window', () => {
  test('copies each record of ClickHouse once, with every field', async () => {
    const project_id = await hot.newProject()
    const first = observationsOver(project_id, 60)
    const again = first.slice(0, 10).map((each) => ({ ...each, output: 'again', message_id: 'm2' }))
    await hot.store.insert(first, { token: newId() })
    await hot.store.insert(again, { token: newId() })
    const trace = traceOf({ project_id, time: now - hour, metadata: ['tenant', 'acme'] })
    await hot.records.insertRows('traces', rowsOf('traces', [trace]), { token: newId() })
    await route(project_id, { hours: 4 })
    expect((await stateOf(project_id))?.covered_from).toBeNull()
    await work()
    const state = await stateOf(project_id)
    expect(Number((now - (state?.covered_from ?? 0n)) / hour)).toBeGreaterThanOrEqual(30)
    const stored = openPostgresStore({ db: hot.db, clock: hot.clock })
    const apart = budget({ test: 8, soak: 1 })
    const untouched = first.slice(10, 80).filter((_, at) => at % apart === 0)
    for (const wanted of [...again, ...untouched]) {
      expect(await stored.observation(project_id, wanted)).toEqual(
        await hot.store.observation(project_id, wanted),
      )
    }
    expect(await stored.observation(project_id, first[179] as Observation)).toBeUndefined()
    expect(await hot.rowsIn('hot_traces', project_id)).toBe(1)
  })

  test('keeps rows that were written since, if they are later', async () => {
    const project_id = await hot.newProject()
    const [given] = observationsOver(project_id, 1, 1) as [Observation]
    await hot.store.insert([given], { token: newId() })
    const later = { ...given, output: 'later', message_id: 'm0' }
    const ingested_at_ms = hot.clock.at_ms + 60_000
    await hot.writer.write('hot_observations', [{ row: later, ingested_at_ms }])
    await route(project_id, { hours: 4 })
    await work()
    const stored = openPostgresStore({ db: hot.db, clock: hot.clock })
    expect(await stored.observation(project_id, given)).toMatchObject({ output: 'later' })
  })

  test('continues where it was, and only the last requested run fills it', async () => {
    const project_id = await hot.newProject()
    await hot.store.insert(observationsOver(project_id, 40), { token: newId() })
    await route(project_id, { hours: 4 })
    await route(project_id, { hours: 8 })
    await work()
    const { rows } = await hot.pool.query(
      'select result, progress from job_runs where project_id = $1 order by id',
      [project_id],
    )
    expect(rows.map(({ result }) => result.superseded)).toEqual([true, false])
    expect(rows[1].progress).toMatchObject({ done: rows[1].result.of })
    const before = await hot.rowsIn('hot_observations', project_id)
    await route(project_id, { hours: 20 })
    await work()
    const { rows: wider } = await hot.pool.query(
      'select result from job_runs where project_id = $1 order by id desc limit 1',
      [project_id],
    )
    expect(wider[0].result.of).toBeLessThanOrEqual(14)
    expect(await hot.rowsIn('hot_observations', project_id)).toBeGreaterThan(before)
  })

  test('repairs days with missing rows, and no others', async () => {
    const project_id = await hot.newProject()
    await route(project_id, { hours: 4 })
    await work()
    await hot.store.insert(observationsOver(project_id, 3), { token: newId() })
    const days = [...new Set([dayOf(now), dayOf(now - 3n * hour)])]
    await markGaps(hot.db, { project_id, days, reason: 'a test' })
    expect(await hot.rowsIn('hot_observations', project_id)).toBe(0)
    for (const chore of hotWindowChores(hot)) await chore.run(new AbortController().signal)
    for (const chore of hotWindowChores(hot)) await chore.run(new AbortController().signal)
    await work()
    expect((await stateOf(project_id))?.gaps).toEqual([])
    expect(await hot.rowsIn('hot_observations', project_id)).toBe(9)
  })

  test('keeps a gap that was recorded while it ran', async () => {
    const project_id = await hot.newProject()
    await route(project_id)
    const day = dayOf(now)
    await hot.pool.query(
      `insert into hot_gaps (project_id, day, reason, marked_at)
       values ($1, $2, 'later', now() + interval '1 hour'), ($1, $3, 'before', now())`,
      [project_id, day, day - 1],
    )
    await work()
    expect((await stateOf(project_id))?.gaps).toEqual([{ day, reason: 'later' }])
  })
})

describe('trimming', () => {
  test('drops whole days and deletes expired rows of shared ones', async () => {
    const [short, long, ended] = [
      await hot.newProject(),
      await hot.newProject(),
      await hot.newProject(),
    ]
    await route(short, { hours: 4 })
    await route(long, { hours: 90 })
    for (const project_id of [short, long, ended]) {
      const rows = observationsOver(project_id, 160, 1).map((row) => ({ row, ingested_at_ms: 1 }))
      await hot.writer.write('hot_observations', rows)
    }
    await hot.pool.query('delete from job_runs')
    for (const chore of hotWindowChores(hot)) await chore.run(new AbortController().signal)
    await work()
    expect(await hot.rowsIn('hot_observations', short)).toBe(4 + 26)
    expect(await hot.rowsIn('hot_observations', ended)).toBe(0)
    const kept = await hot.rowsIn('hot_observations', long)
    expect([kept >= 90 + 26, kept < 90 + 26 + 1]).toEqual([true, true])
    const { rows } = await hot.pool.query(
      `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'hot_observations'::regclass order by 1`,
    )
    const oldest = dayOf(now - (90n + 26n) * hour)
    const name = new Date(Number(BigInt(oldest) * day_ns) / 1e6).toISOString().slice(0, 10)
    expect(rows[0].relname).toBe(`hot_observations_${name.replaceAll('-', '')}`)
    await hot.writer.write('hot_observations', [
      {
        row: observationOf({ project_id: long, start_time: now - 159n * hour }),
        ingested_at_ms: 1,
      },
    ])
    expect(await hot.rowsIn('hot_observations', long)).toBe(kept + 1)
  })
})

describe('which store answers', () => {
  const ask = (
    project_id: string,
    about: {
      hours?: number
      entity?: RoutingRequest['entity']
      query_class?: 'list' | 'aggregate'
      restored?: boolean
    } = {},
  ) => {
    const { hours = 2, entity = 'observations', query_class = 'list', restored = false } = about
    const choose = chooseByRouting(hot)
    const window = { from: now - BigInt(hours) * hour, to: now }
    return choose({ project_id, query_class, entity, window, restored })
  }
  const reasonOf = async (...asked: Parameters<typeof ask>) => {
    const { candidates } = await ask(...asked)
    return candidates.find(({ store }) => store === 'postgres')?.reason
  }

  test('is ClickHouse until the window is filled, then the choice of auto', async () => {
    const project_id = await hot.newProject()
    expect(await ask(project_id)).toMatchObject({ order: ['clickhouse'] })
    expect(await reasonOf(project_id)).toBe('the project does not write to PostgreSQL')
    await route(project_id)
    expect(await ask(project_id)).toMatchObject({ order: ['clickhouse'] })
    expect(await reasonOf(project_id)).toBe('the hot window is not filled yet')
    await work()
    expect(await ask(project_id)).toMatchObject({
      order: ['postgres', 'clickhouse'],
      fallback: true,
    })
    expect(await ask(project_id, { query_class: 'aggregate' })).toMatchObject({
      order: ['clickhouse', 'postgres'],
    })
    expect(await ask(project_id, { entity: 'traces', hours: 24 })).toMatchObject({
      order: ['clickhouse', 'postgres'],
    })
    expect(await reasonOf(project_id, { restored: true })).toBe(
      'restored rows are in ClickHouse only',
    )
    expect(await reasonOf(project_id, { hours: 26 })).toBe(
      'the window begins before the hot window of 24 hours',
    )
  })

  test('is fixed for entities that only one store has', async () => {
    const project_id = await hot.newProject()
    expect(await ask(project_id, { entity: 'tasks' })).toMatchObject({ order: ['postgres'] })
    expect(await ask(project_id, { entity: 'links' })).toMatchObject({ order: ['clickhouse'] })
  })

  test('named by the project is skipped with a reason, or no store answers', async () => {
    const project_id = await hot.newProject()
    await route(project_id, { hours: 4, routes: { list: 'postgres' } })
    await work()
    expect(await ask(project_id)).toMatchObject({ order: ['postgres', 'clickhouse'] })
    await markGaps(hot.db, { project_id, days: [dayOf(now)], reason: 'a test' })
    const { order, passed_over } = await ask(project_id)
    expect(order).toEqual(['clickhouse'])
    expect(passed_over).toMatchObject({
      store: 'postgres',
      reason: expect.stringContaining('are missing in PostgreSQL (a test)'),
    })
    await route(project_id, { hours: 4, routes: { list: 'postgres' }, fallback: false })
    expect(await ask(project_id)).toMatchObject({ order: [], fallback: false })
    await route(project_id, { hours: 4, routes: { list: 'clickhouse' }, fallback: false })
    expect(await ask(project_id)).toMatchObject({ order: ['clickhouse'], fallback: false })
  })
})
