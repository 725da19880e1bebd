import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Job, JobValue } from '../../src/capabilities/jobs/index.ts'
import {
  type ArchiveSettings,
  type ArchiveStore,
  archiveHandler,
  defaultArchiveSettings,
  endSlicesChore,
  openArchiveStore,
  openRestoredStore,
  type RestoredStore,
  readErasedUsers,
  restoreHandler,
  tidyArchivesChore,
} from '../../src/capabilities/lifecycle/archive/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Clock, systemClock } from '../../src/kernel/time.ts'
import { type Blobs, openBlobs } from '../../src/platform/blobs/index.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import {
  type ArchiveTables,
  type JobTables,
  type Kysely,
  openRelational,
  type RetentionTables,
  type Selectable,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { blobsOptions } from './blobs.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { enqueueTestJob, jobIn, startWorker } from './job-workers.ts'
import { observationOf } from './observations.ts'
import { testPostgres } from './postgres.ts'
import { correlationOf, eventOf, linkOf, rowsOf, start, traceOf } from './records.ts'

/** Start of 2026-09-21, the day of `start`. */
const day_ns = 86_400_000_000_000n
export const firstDay = (start / day_ns) * day_ns

const iso = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString()

/** A window of `days` days from the first day. */
export const daysFrom = (days: number) => ({
  from: iso(firstDay),
  to: iso(firstDay + BigInt(days) * day_ns),
})

/** A folder of blobs for one test. */
export async function folderBlobs(): Promise<Blobs> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-archives-'))
  return openBlobs(blobsOptions(String(pathToFileURL(directory))))
}

/**
 * Writes `each` records of every kind on each of `days` days, and some of them again with other
 * values, so that versions exist side by side. Users alternate: user-0 to user-4.
 */
export async function writeRecords(
  columnar: ColumnarServer,
  { project_id, days, each }: { project_id: string; days: number; each: number },
): Promise<void> {
  const store = openClickHouseStore({ columnar })
  const records = openClickHouseRecordStore({ columnar })
  const seeds = Array.from({ length: days * each }, (_, at) => {
    const time = firstDay + BigInt(at % days) * day_ns + BigInt(at) * 1_000_001n
    const trace_id = newId()
    const observation_id = `obs-${at}`
    return { at, time, trace_id, observation_id, project_id }
  })
  const observations = seeds.map(({ at, time, ...ids }) =>
    observationOf({
      ...ids,
      start_time: time,
      end_time: time + 5n,
      user_id: `user-${at % 5}`,
      environment: at % 2 === 0 ? 'production' : 'staging',
      input: `what is ${at}? é🦊\n\\'`,
      output: 'x'.repeat(at % 300),
      cost_usd: at % 3 === 0 ? null : '0.000000001',
      time_to_first_token_ms: at % 4 === 0 ? null : at / 7,
      tool_calls: at % 2 === 0 ? [{ id: 'c', name: 'n', arguments: `{"a":${at}}` }] : [],
      attributes: { n: String(at), "it's": '"' },
      metadata: at % 3 === 0 ? {} : { k: 'v' },
    }),
  )
  await store.insert(observations, { token: newId() })
  const again = observations.filter((_, at) => at % 7 === 0)
  await store.insert(
    again.map((each) => ({ ...each, name: 'sent again' })),
    { token: newId() },
  )
  const drafts = {
    traces: seeds.map(({ at, observation_id: _, ...ids }) =>
      traceOf({ ...ids, user_id: `user-${at % 5}`, input: `in ${at}` }),
    ),
    events: seeds.map(({ at, ...ids }) =>
      eventOf({ ...ids, event_id: `e${at}`, body: Buffer.from('b') }),
    ),
    links: seeds.map(({ at, ...ids }) => linkOf({ ...ids, link_id: `l${at}` })),
    correlations: seeds.map(({ at, ...ids }) =>
      correlationOf({ ...ids, correlation_value: `value-${at}` }),
    ),
  }
  const about = { token: newId() }
  await records.insertRows('traces', rowsOf('traces', drafts.traces), about)
  await records.insertRows('events', rowsOf('events', drafts.events), about)
  await records.insertRows('links', rowsOf('links', drafts.links), about)
  await records.insertRows('correlations', rowsOf('correlations', drafts.correlations), about)
}

/** Tables of archives and their jobs. */
export type ArchiveTestTables = ArchiveTables & JobTables & RetentionTables

/** Archive and restore runs as a worker does them, with the test's own stores. */
export type ArchiveDesk = {
  columnar: ColumnarServer
  db: Kysely<ArchiveTestTables>
  restored: RestoredStore
  /** Columns that archives lack, as in an earlier version. */
  columnsToCome: Set<string>
  /** Runs an archive to its end. */
  archive(project_id: string, params?: JobValue): Promise<Job>
  /** Runs a restore to its end; returns the job and the id of its slice. */
  restore(archive: Job, more?: JobValue): Promise<{ job: Job; slice_id: string }>
  /** Requests a restore, and returns its job without waiting for it. */
  begin(archive: Job, more?: JobValue): Promise<{ job: Job; slice_id: string }>
  slice(slice_id: string): Promise<Slice | undefined>
  close(): Promise<void>
}

export async function openArchiveDesk(
  blobs: Blobs | undefined,
  more: Partial<ArchiveSettings> & {
    database_url?: string
    clock?: Clock
    /** Tables that the test has opened and closes itself. */
    columnar?: ColumnarServer
  } = {},
): Promise<ArchiveDesk> {
  const { database_url, clock = systemClock, columnar: given, ...others } = more
  const columnar = given ?? (await migratedClickHouse())
  const relational = openRelational<ArchiveTestTables>({
    scope: allTenants,
    url: database_url ?? (await testPostgres()),
    pool_max: 8,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 5_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const { db } = relational
  const settings = { ...defaultArchiveSettings, settle_ms: 0, ...others }
  const about = { db, blobs, clock, settings }
  const restored = openRestoredStore({ columnar })
  const columnsToCome = new Set<string>()
  const store = openArchiveStore({ columnar })
  const earlier: ArchiveStore = {
    ...store,
    columnsOf: async (kind) =>
      (await store.columnsOf(kind)).filter(({ name }) => !columnsToCome.has(name)),
  }
  const handlers = [
    archiveHandler({ ...about, store: earlier }),
    restoreHandler({
      ...{ ...about, restored },
      erasedUsers: (project_id) => readErasedUsers(db, project_id),
    }),
  ]
  const chores = [
    endSlicesChore({ db, restored, clock, every_ms: 200 }),
    tidyArchivesChore({ db, blobs, every_ms: 200 }),
  ]
  // No worker dies here: a longer lease keeps a busy machine from taking a run over.
  const worker = startWorker(db, handlers, { chores, settings: { lease_ms: 5_000 } })
  const ended = ({ id }: Job) => jobIn(db, id, 'succeeded', 'failed')
  const begin: ArchiveDesk['begin'] = async (
    { id: archive_run_id, project_id, result },
    more = {},
  ) => {
    const slice_id = newId()
    await insertTestSlice(db, { slice_id, project_id, archive_run_id, created_at: new Date() })
    const { manifest, manifest_sha256 } = result ?? {}
    const params = { archive_run_id, slice_id, manifest, manifest_sha256, ...more }
    return { slice_id, job: await enqueueTestJob(db, { project_id, kind: 'restore', params }) }
  }
  return {
    ...{ columnar, db, restored, columnsToCome, begin },
    archive: async (project_id, params = daysFrom(3)) =>
      ended(await enqueueTestJob(db, { project_id, kind: 'archive', params })),
    restore: async (archive, params) => {
      const { job, slice_id } = await begin(archive, params)
      return { slice_id, job: await ended(job) }
    },
    slice: (slice_id) =>
      db.selectFrom('restored_slices').selectAll().where('id', '=', slice_id).executeTakeFirst(),
    close: async () => {
      await worker.stop()
      await relational.close()
      if (given === undefined) await columnar.close()
    },
  }
}

type Slice = Selectable<ArchiveTables['restored_slices']>

/** Records a slice that a restore run of a test is about to fill. */
export async function insertTestSlice(
  db: Kysely<ArchiveTestTables>,
  about: { slice_id: string; project_id: string; archive_run_id: string; created_at: Date },
): Promise<void> {
  const { slice_id, created_at, ...rest } = about
  await db
    .insertInto('restored_slices')
    .values({
      ...{ ...rest, id: slice_id, name: slice_id, job_id: newId(), kinds: '[]' },
      ...{ created_by: 'user:test', created_at },
      expires_at: new Date(created_at.getTime() + 3_600_000),
    })
    .execute()
}
