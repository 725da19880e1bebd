import { afterAll, beforeAll, expect, test } from 'vitest'
import { readySlices } from '../../src/capabilities/lifecycle/archive/index.ts'
import {
  type ErasureTarget,
  openClickHouseStore,
  openPostgresRetention,
  openPostgresStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { Blobs } from '../../src/platform/blobs/index.ts'
import { type HotTables, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import {
  type ArchiveDesk,
  daysFrom,
  firstDay,
  folderBlobs,
  openArchiveDesk,
} from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { jobIn } from '../support/job-workers.ts'
import { observationOf } from '../support/observations.ts'
import { openQueryApi, type QueryApi } from '../support/query-api.ts'
import { openRetentionApi, type RetentionApi } from '../support/retention-api.ts'
import { quarterOf } from '../support/suite/budget.ts'
import { keyOf } from '../support/task-api.ts'

const path = '/erasures'
const user_id = 'ada@example.com'
const kinds = ['observations', 'traces', 'events', 'links', 'correlations'] as const
const day_ns = 86_400_000_000_000n
const window = daysFrom(2)
let api: RetentionApi
let desk: ArchiveDesk
let queries: QueryApi
let blobs: Blobs & { beforeGet: (name: string) => Promise<void> }
let hot: ReturnType<typeof openRelational<HotTables>>

beforeAll(async () => {
  api = await openRetentionApi()
  const folder = await folderBlobs()
  blobs = {
    ...folder,
    beforeGet: async () => undefined,
    get: async (name, about) => {
      await blobs.beforeGet(name)
      return folder.get(name, about)
    },
  }
  const { postgres_url: database_url, columnar } = api
  desk = await openArchiveDesk(blobs, { database_url, columnar, file_rows_max: 3 })
  hot = openRelational<HotTables>({
    scope: allTenants,
    ...{ url: database_url, pool_max: 4, connect_timeout_ms: 2_000, statement_timeout_ms: 20_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  queries = await openQueryApi({
    columnar,
    restoredSlices: (project_id) => readySlices(desk.db, { project_id, now: new Date() }),
  })
})
afterAll(async () => {
  await desk.close()
  await hot.close()
  await queries[Symbol.asyncDispose]()
})

type Place = ErasureTarget & { name: string }

/** Everything that a worker erases, besides ClickHouse's own tables. */
function places(): Place[] {
  return [
    { name: 'hot window', ...openPostgresRetention(hot) },
    { name: 'restored slices', ...desk.restored.erasure },
  ]
}

function handler(targets: readonly ErasureTarget[] = places(), store = api.store) {
  return api.erasureHandler({ store, targets, clock: systemClock })
}

async function requestErasure(project: string, more: object = {}) {
  const body = { user_id, reason: 'asked by mail', ...more }
  const { status, body: asked } = await api.call('POST', path, project, { body })
  expect(status).toBe(202)
  return { erasure_id: String(asked['erasure_id']), job_id: String(asked['job_id']) }
}

async function readErasure(project: string, erasure_id: string) {
  const read = await api.call('GET', `${path}/${erasure_id}`, project)
  return read.body
}

async function erase(project: string, more: object = {}, done = handler()) {
  const { erasure_id, job_id } = await requestErasure(project, more)
  expect((await api.done(job_id, done)).error).toBeNull()
  return readErasure(project, erasure_id)
}

const at = (day: number, seconds = 0) =>
  firstDay + BigInt(day) * day_ns + BigInt(seconds) * 1_000_000_000n

/**
 * A trace of the user over two days, of which only the root names the user; and a trace of another
 * user.
 */
function recordsOf(project_id: string, hers = newId()) {
  const his = newId()
  const row = (trace_id: string, observation_id: string, day: number, user: string): Observation =>
    observationOf({
      ...{
        project_id,
        trace_id,
        observation_id,
        user_id: user,
        input: `said in ${observation_id}`,
      },
      ...{ start_time: at(day), end_time: at(day, 1), task_id: `task of ${trace_id}` },
    })
  const observations = [
    row(hers, 'root', 0, user_id),
    row(hers, 'child', 0, ''),
    row(hers, 'late child', 1, ''),
    row(his, 'other', 0, 'bob'),
    row(his, 'other child', 1, ''),
  ]
  const each = (make: (trace_id: string, day: number) => object) =>
    [hers, his].flatMap((trace_id) => [make(trace_id, 0), make(trace_id, 1)])
  return {
    ...{ hers, his, observations },
    others: {
      traces: [
        { trace_id: hers, time: at(0), user_id },
        { trace_id: his, time: at(0), user_id: 'bob' },
      ],
      events: each((trace_id, day) => ({ trace_id, time: at(day), body: Buffer.from('said') })),
      links: each((trace_id, day) => ({ trace_id, time: at(day) })),
      correlations: each((trace_id, day) => ({
        ...{ trace_id, time: at(day), correlation_value: `${trace_id} ${day}` },
      })),
    },
  }
}

/** A project whose rows are in ClickHouse and, the last day of them, in the hot window. */
async function projectWithRecords() {
  const project = await api.newProject()
  const { hers, his, observations, others } = recordsOf(project)
  await api.seed(project, { observations, ...others })
  const young = observations.filter(({ start_time }) => start_time >= at(1))
  await openPostgresStore({ ...hot, clock: systemClock }).insert(young, { token: newId() })
  return { project, hers, his, observations }
}

/** Rows of a trace in each place, as reads see them. */
async function visible(project: string, trace_id: string): Promise<Record<string, number>> {
  const live = openClickHouseStore({ columnar: api.columnar })
  const window_of = { from: at(-1), to: at(5) }
  const inStores = [
    ['timeline', live],
    ['hot timeline', openPostgresStore({ ...hot, clock: systemClock })],
  ] as const
  const ofTimelines = inStores.map(async ([name, store]) => {
    const task = await store.taskObservations(project, `task of ${trace_id}`, { limit: 100 })
    const trace = await store.traceObservations(project, { trace_id, limit: 100, ...window_of })
    return [name, Math.max(task.length, trace.length)] as const
  })
  const ofQueries = kinds.map(async (entity) => {
    const about = { headers: keyOf(project, 'query:run') }
    const reply = await queries.call(
      'query',
      {
        ...{ entity, window, select: ['trace_id'], include_restored: true, limit: 100 },
        where: { field: 'trace_id', op: 'eq', value: trace_id },
      },
      about,
    )
    expect(reply.status).toBe(200)
    return [`query ${entity}`, Number(reply.body.rows.length)] as const
  })
  return Object.fromEntries(await Promise.all([...ofTimelines, ...ofQueries]))
}

/** Rows of a trace on disk, marked as deleted or not, in both kinds of tables. */
async function stored(project: string, trace_id: string): Promise<Record<string, number>> {
  const tables = kinds.flatMap((kind) => [kind, `restored_${kind}`])
  const each = tables.map(
    (table) => `SELECT '${table}' AS name, count() AS n FROM ${table}
      WHERE project_id = {project:UUID} AND trace_id = {trace_id:UUID}`,
  )
  const rows = await api.columnar.query<{ name: string; n: string }>(
    each.join(' UNION ALL '),
    { project, trace_id },
    { settings: { apply_deleted_mask: 0 } },
  )
  expect(rows).toHaveLength(tables.length)
  return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))
}

const none = (counts: Record<string, number>) =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, 0]))

test('all stores hide the rows before the first of them purges, and in the end no row is stored', async () => {
  const { project, hers, his } = await projectWithRecords()
  const archive = await desk.archive(project, window)
  expect((await desk.restore(archive)).job.error).toBeNull()
  const [before, others] = [await visible(project, hers), await visible(project, his)]
  expect(Object.values(before).every((rows) => rows > 0)).toBe(true)
  expect((await stored(project, hers))['restored_events']).toBe(2)

  const { erasure_id, job_id } = await requestErasure(project)
  const steps: string[] = []
  const watched = ({ name, ...place }: Place): ErasureTarget => ({
    ...place,
    eraseUser: async (...asked) => {
      await place.eraseUser(...asked)
      steps.push('hidden')
    },
    ...(place.purgeUser !== undefined && {
      purgeUser: async (about, signal) => {
        steps.push(`purged ${name}`)
        expect(await visible(project, hers)).toEqual(none(before))
        expect(await readErasure(project, erasure_id)).toMatchObject({
          ...{ state: 'running', unreadable_at: expect.any(String), receipt: null },
        })
        return (await place.purgeUser?.(about, signal)) ?? false
      },
    }),
  })
  const store = { ...api.store, ...watched({ name: 'clickhouse', ...api.store }) }
  const job = await api.done(job_id, handler(places().map(watched), store))
  expect(job).toMatchObject({ state: 'succeeded', error: null })
  expect(steps.slice(-2)).toEqual(['purged clickhouse', 'purged restored slices'])
  expect(new Set(steps.slice(0, -2))).toEqual(new Set(['hidden']))

  const erasure = await readErasure(project, erasure_id)
  expect(erasure).toMatchObject({
    state: 'completed',
    receipt: {
      ...{ purged: true, held_rows: 0, archives: [archive.id] },
      counts: { observations: 3, traces: 1, events: 2, links: 2, correlations: 2 },
    },
  })
  expect(await visible(project, hers)).toEqual(none(before))
  expect(await visible(project, his)).toEqual(others)
  const left = await stored(project, hers)
  expect(left).toEqual(none(left))
})

type Completed = {
  ended_at: string
  receipt: { remaining: { what: string; until: string | null }[] }
}

test('a receipt of an earlier version is read unchanged', async () => {
  const project = await api.newProject()
  const { erasure_id } = await requestErasure(project)
  const receipt = { counts: { tasks: 1 }, held_rows: 0, purged: true, archives: [] }
  await api.db
    .updateTable('erasures')
    .set({ receipt: JSON.stringify(receipt), ended_at: new Date(), user_id: null })
    .where('id', '=', erasure_id)
    .execute()
  const read = await readErasure(project, erasure_id)
  expect(read['receipt']).toEqual({ ...receipt, remaining: [] })
})

test('rows without a user are deleted in each store, also where only another store has the user, and the next attempt finishes an interrupted purge', async () => {
  const { project, hers, his } = await projectWithRecords()
  const archive = await desk.archive(project, { ...window, kinds: ['observations', 'events'] })
  // The slice has the second day and events only: nothing in it names the user.
  const from = daysFrom(1).to
  await desk.restore(archive, { from, to: daysFrom(2).to })
  await desk.restore(archive, { kinds: ['events'] })
  expect(await stored(project, hers)).toMatchObject({
    restored_events: 3,
    restored_observations: 1,
  })
  const broken = new Set(['store', 'slices'])
  const breakOff = (name: string, purge: ErasureTarget['purgeUser']) => ({
    purgeUser: async (...asked: Parameters<NonNullable<ErasureTarget['purgeUser']>>) => {
      if (broken.delete(name)) throw new Error('the worker is killed')
      return (await purge?.(...asked)) ?? false
    },
  })
  const targets = places().map((place) =>
    place.name === 'restored slices' ? { ...place, ...breakOff('slices', place.purgeUser) } : place,
  )
  const store = { ...api.store, ...breakOff('store', api.store.purgeUser) }
  const erasure = await erase(project, {}, handler(targets, store))
  expect(broken.size).toBe(0)
  expect(erasure['receipt']).toMatchObject({ purged: true, counts: { observations: 3, events: 2 } })
  const [visibly, really] = [await visible(project, hers), await stored(project, hers)]
  expect(visibly).toEqual(none(visibly))
  expect(really).toEqual(none(really))
  expect(await stored(project, his)).toMatchObject({ restored_events: 3, events: 2 })
})

/** A project with archives of all kinds and of events, whose user was erased since. */
async function makeErased() {
  const { project, hers, his } = await projectWithRecords()
  const archive = await desk.archive(project, window)
  const events = await desk.archive(project, { ...window, kinds: ['events'] })
  const { receipt, ended_at } = (await erase(project)) as Completed
  return { project, hers, his, archive, events, receipt, ended_at }
}

let made: ReturnType<typeof makeErased> | undefined
/** The tests below read the same erasure: each is some hundred statements. */
const erased = () => (made ??= makeErased())

test('the receipt lists the remaining data, where and until when', async () => {
  const { archive, receipt, ended_at } = await erased()
  expect(receipt.remaining.map(({ what }) => what)).toEqual([
    ...['archives', 'replaced_files', 'database_pages', 'late_rows'],
  ])
  const files = receipt.remaining.find(({ what }) => what === 'replaced_files')
  expect(Date.parse(files?.until ?? '') - Date.parse(ended_at)).toBe(480_000)
  // The files of the archive are unchanged: a manifest has their hashes.
  expect(await blobs.stat(String(archive.result?.['manifest']))).toBeDefined()

  const other = await projectWithRecords()
  const body = { kind: 'trace', value: other.hers, reason: 'a case' }
  await api.call('POST', '/legal-holds', other.project, { body })
  const untouched = (await erase(other.project, { purge: false })) as Completed
  expect(untouched.receipt).toMatchObject({ purged: false, held_rows: 10 })
  expect(untouched.receipt.remaining.map(({ what }) => what)).toEqual([
    ...['held_rows', 'marked_rows', 'database_pages', 'late_rows'],
  ])
})

test('a restore of an older archive writes no row of an erased user', async () => {
  const { project, hers, his, archive } = await erased()
  const before = (await stored(project, his))['restored_events'] ?? 0
  const restores = [
    {},
    { kinds: ['events', 'links', 'correlations'] as const },
    // A day without a row of the user.
    { from: daysFrom(1).to, to: daysFrom(2).to },
  ]
  for (const [index, params] of restores.entries()) {
    const { job } = await desk.restore(archive, params)
    expect(job).toMatchObject({ state: 'succeeded', error: null })
    expect(Number(job.result?.['erased_rows'])).toBeGreaterThan(0)
    const left = await stored(project, hers)
    expect(left).toEqual(none(left))
    expect((await stored(project, his))['restored_events']).toBeGreaterThan(before + index)
  }
})

test('a restore skips erased traces even if its archive has no row with a user', async () => {
  const { project, hers, his, events } = await erased()
  const before = (await stored(project, his))['restored_events'] ?? 0
  const { job } = await desk.restore(events)
  expect(job.result).toMatchObject({ rows: 4, erased_rows: 2 })
  expect((await stored(project, hers))['restored_events']).toBe(0)
  expect((await stored(project, his))['restored_events']).toBe(before + 2)
})

test('an erasure of another project removes no row from a restore', async () => {
  const { project: theirs, hers } = await erased()
  const mine = await api.newProject()
  const { observations, others } = recordsOf(mine, hers)
  await api.seed(mine, { observations, ...others })
  const archive = await desk.archive(mine, window)
  expect(await stored(theirs, hers)).toMatchObject({ observations: 0, restored_observations: 0 })
  const { job } = await desk.restore(archive)
  expect(job.result).toMatchObject({ erased_rows: 0 })
  const rows = await stored(mine, hers)
  for (const kind of kinds) expect(rows[`restored_${kind}`]).toBe(rows[kind])
  expect(rows).toMatchObject({ observations: 3, events: 2 })
})

/** Checks after each insert of a restore, until it is disposed. */
function insertsOf(look: () => Promise<Record<string, number>>) {
  const seen: Record<string, number>[] = []
  const restore = aroundInserts(async (insert) => {
    await insert()
    seen.push(await look())
  })
  return { seen, [Symbol.asyncDispose]: async () => restore() }
}

/** Runs something around each insert of a file, until the returned function is called. */
function aroundInserts(around: (insert: () => Promise<void>) => Promise<void>): () => void {
  const { columnar } = api
  const { ofProject } = columnar
  columnar.ofProject = (project) => {
    const statements = ofProject(project)
    return {
      ...statements,
      insertParquet: (...asked) => around(() => statements.insertParquet(...asked)),
    }
  }
  return () => {
    columnar.ofProject = ofProject
  }
}

/** Files of the archive when the erasure happens: it has two days of two kinds. */
const moments = [
  ['between two of its files', 2],
  ['before its last file', 4],
] as const

test.each(quarterOf(moments))(
  'an erasure during a restore, %s, leaves nothing of the user',
  async (_, files) => {
    const { project, hers, his } = await projectWithRecords()
    const archive = await desk.archive(project, { ...window, kinds: ['observations', 'events'] })
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let read = 0
    blobs.beforeGet = async (name) => {
      if (!name.endsWith('.parquet')) return
      read += 1
      if (read !== files) return
      reached.resolve()
      await goOn.promise
    }
    try {
      const { job: asked, slice_id } = await desk.begin(archive)
      await reached.promise
      const erasure = await erase(project)
      expect(erasure['receipt']).toMatchObject({ purged: true })
      const erased = await stored(project, hers)
      expect(erased).toEqual(none(erased))
      await using inserts = insertsOf(() => stored(project, hers))
      goOn.resolve()
      const job = await jobIn(api.db, asked.id, 'succeeded', 'failed')
      // No insert since then wrote a row of the user, not even one that was deleted again.
      expect(inserts.seen.length).toBeGreaterThan(3)
      for (const rows of inserts.seen) expect(rows).toEqual(none(rows))
      expect(job).toMatchObject({ state: 'succeeded', error: null, result: { erased_rows: 5 } })
      expect(await desk.slice(slice_id)).toMatchObject({ state: 'ready', erased_rows: 5 })
    } finally {
      goOn.resolve()
      blobs.beforeGet = async () => undefined
    }
    const [visibly, really] = [await visible(project, hers), await stored(project, hers)]
    expect(visibly).toEqual(none(visibly))
    expect(really).toEqual(none(really))
    expect(await stored(project, his)).toMatchObject({
      restored_observations: 2,
      restored_events: 2,
    })
  },
)

test('an erasure waits for a file that is being inserted, and then hides its rows', async () => {
  const { project, hers } = await projectWithRecords()
  const archive = await desk.archive(project, { ...window, kinds: ['traces', 'events'] })
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stopWaiting = aroundInserts(async (insert) => {
    reached.resolve()
    await goOn.promise
    await insert()
  })
  let is_hidden = false
  const { erasure: slices } = desk.restored
  const watched: ErasureTarget = {
    ...slices,
    eraseUser: async (...asked) => {
      is_hidden = true
      await slices.eraseUser(...asked)
    },
  }
  try {
    const { job: restoring } = await desk.begin(archive)
    await reached.promise
    const { erasure_id, job_id } = await requestErasure(project)
    const erasing = api.done(job_id, handler([watched]))
    await eventually('the erasure waits', async () => {
      const { rows } = await hot.pool.query(
        `select 1 from pg_locks where locktype = 'advisory' and not granted`,
      )
      return rows.length > 0
    })
    expect(is_hidden).toBe(false)
    goOn.resolve()
    expect(await erasing).toMatchObject({ state: 'succeeded', error: null })
    expect((await readErasure(project, erasure_id))['receipt']).toMatchObject({ purged: true })
    const job = await jobIn(api.db, restoring.id, 'succeeded', 'failed')
    expect(job).toMatchObject({ state: 'succeeded', error: null, result: { erased_rows: 3 } })
  } finally {
    goOn.resolve()
    stopWaiting()
  }
  const left = await stored(project, hers)
  expect(left).toEqual(none(left))
})
