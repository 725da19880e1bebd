import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Blobs, openBlobs } from '../../src/platform/blobs/index.ts'
import { type ColumnarServer, openColumnar } from '../../src/platform/columnar/index.ts'
import {
  type Kysely,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import type { ArchiveProcessOptions } from '../support/archive-process.ts'
import {
  type ArchiveTestTables,
  daysFrom,
  insertTestSlice,
  writeRecords,
} from '../support/archives.ts'
import { blobsOptions } from '../support/blobs.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { enqueueTestJob, jobIn, jobOf } from '../support/job-workers.ts'
import { killableProcesses } from '../support/killable-processes.ts'
import { testPostgres } from '../support/postgres.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { quarterOf, soakOnly } from '../support/suite/budget.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
let directory = ''
let s3: S3Server
let columnar: ColumnarServer
let relational: Relational<ArchiveTestTables>
let db: Kysely<ArchiveTestTables>
let options: ArchiveProcessOptions
let blobs: Blobs
const workers = killableProcesses(new URL('../support/archive-process.ts', import.meta.url))

/** 2 days, 5 kinds, 10 rows of each, files of 4 rows: 30 files. */
const days = 2
const each = 10
const rows = days * each * 5
const files = 30

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-kills-archive-'))
  s3 = await startS3Server({ directory })
  const clickhouse = await testClickHouse()
  columnar = openColumnar(columnarOptions(clickhouse))
  const postgres_url = await testPostgres()
  relational = openRelational<ArchiveTestTables>({
    scope: allTenants,
    url: postgres_url,
    pool_max: 4,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 5_000,
    logger,
  })
  db = relational.db
  options = {
    ...{ postgres_url, clickhouse, file_rows_max: 4 },
    blobs: blobsOptions(`s3://${s3.bucket}/kills`, s3),
  }
  blobs = openBlobs(options.blobs)
})
// A test that fails leaves its processes, which would take the jobs of the next one.
afterEach(() => workers.killAll())
afterAll(async () => {
  await relational.close()
  await columnar.close()
  blobs.close()
  await s3.stop()
  await rm(directory, { recursive: true, force: true })
})

type Worker = {
  /** Resolves when the process announces the step for the nth time. */
  reached(step: string): Promise<void>
  kill(): Promise<void>
}

function startProcess(): Worker {
  const worker = workers.start(JSON.stringify(options))
  const messages = new Set<string>()
  createInterface({ input: worker.stdout }).on('line', (line) => messages.add(line))
  return {
    reached: async (step) => {
      const about = { timeout_ms: 30_000, interval_ms: 1 }
      await eventually(`step ${step}`, () => messages.has(step), about)
    },
    kill: () => workers.kill(worker),
  }
}

async function newProject(): Promise<string> {
  const project_id = newId()
  await writeRecords(columnar, { project_id, days, each })
  return project_id
}

const enqueueArchive = (project_id: string) =>
  enqueueTestJob(db, { project_id, kind: 'archive', params: daysFrom(days) })

async function enqueueRestore({ id: archive_run_id, project_id, result }: Job) {
  const slice_id = newId()
  await insertTestSlice(db, { slice_id, project_id, archive_run_id, created_at: new Date() })
  const { manifest, manifest_sha256 } = result ?? {}
  const params = { archive_run_id, slice_id, manifest, manifest_sha256 }
  const job = await enqueueTestJob(db, { project_id, kind: 'restore', params })
  return { job, slice_id }
}

/**
 * Expects that the archive has each row once, every file matches the manifest, and there are no
 * other files.
 */
async function expectWhole(job: Job): Promise<void> {
  expect(job).toMatchObject({ state: 'succeeded', result: { verified: true, rows, files } })
  const manifest = JSON.parse(
    String(await buffer(await blobs.get(String(job.result?.['manifest'])))),
  )
  const named: string[] = manifest.files.map(({ name }: { name: string }) => name)
  expect(new Set(named).size).toBe(files)
  const there: string[] = []
  const prefix = `archives/${job.project_id}/${job.id}/`
  for await (const { name } of blobs.list(prefix)) there.push(name)
  expect(there.toSorted()).toEqual([...named, `${prefix}manifest.json`].toSorted())
  const parts = await readdir(join(s3.bucket_directory), { recursive: true })
  expect(parts.filter((name) => name.includes(job.id) && name.includes('multipart'))).toEqual([])
}

async function expectRestored(slice_id: string): Promise<void> {
  const slice = await db
    .selectFrom('restored_slices')
    .selectAll()
    .where('id', '=', slice_id)
    .executeTakeFirstOrThrow()
  expect(slice).toMatchObject({ state: 'ready', row_count: rows })
  for (const kind of ['observations', 'traces', 'events', 'links', 'correlations']) {
    // Each record of these tests has its own trace; a duplicated file would duplicate traces.
    const sql = `SELECT uniqExact(trace_id) AS n FROM restored_${kind} WHERE slice_id = {slice:UUID}`
    const [found] = await columnar.query<{ n: string }>(sql, { slice: slice_id })
    expect({ kind, rows: Number(found?.n) }).toEqual({ kind, rows: days * each })
  }
}

describe('an archive run whose process is killed', () => {
  test.each(quarterOf(['put 1', 'stored 4', 'get 17', 'manifest 1']))(
    'at %s is taken over with the same result',
    async (step) => {
      const { id } = await enqueueArchive(await newProject())
      const first = startProcess()
      await first.reached(step)
      await first.kill()
      expect((await jobOf(db, id)).state).toBe('running')
      const second = startProcess()
      await expectWhole(await jobIn(db, id, 'succeeded', 'failed'))
      await second.kill()
    },
  )

  test(
    'again and again still completes',
    soakOnly('One kill at one step runs in each suite.'),
    async () => {
      const { id } = await enqueueArchive(await newProject())
      for (const step of ['put 6', 'put 6', 'stored 6']) {
        const process = startProcess()
        await process.reached(step)
        await process.kill()
      }
      const last = startProcess()
      await expectWhole(await jobIn(db, id, 'succeeded', 'failed'))
      await last.kill()
    },
  )
})

describe('a restore run whose process is killed', () => {
  let archive: Job
  beforeAll(async () => {
    const { id } = await enqueueArchive(await newProject())
    const process = startProcess()
    archive = await jobIn(db, id, 'succeeded')
    await process.kill()
  })

  test.each(quarterOf(['insert 1', 'inserted 14', 'compare 3']))(
    'at %s is taken over, and the slice has each row once',
    async (step) => {
      const { job, slice_id } = await enqueueRestore(archive)
      const first = startProcess()
      await first.reached(step)
      await first.kill()
      const slice = await db
        .selectFrom('restored_slices')
        .select('state')
        .where('id', '=', slice_id)
        .executeTakeFirst()
      expect(slice).toEqual({ state: 'restoring' })
      const second = startProcess()
      expect(await jobIn(db, job.id, 'succeeded', 'failed')).toMatchObject({
        state: 'succeeded',
        result: { rows, files },
      })
      await expectRestored(slice_id)
      await second.kill()
    },
  )
})

test('two workers share runs: each run is done once', async () => {
  const workers = [startProcess(), startProcess()]
  await Promise.all(workers.map((worker) => worker.reached('ready 1')))
  const jobs = await Promise.all(
    [await newProject(), await newProject(), await newProject()].map(enqueueArchive),
  )
  for (const { id } of jobs) {
    const job = await jobIn(db, id, 'succeeded', 'failed')
    expect(job.attempt).toBe(1)
    await expectWhole(job)
  }
  await Promise.all(workers.map((worker) => worker.kill()))
})

test('a run waits for a store of archives that is temporarily unavailable', async () => {
  const { id } = await enqueueArchive(await newProject())
  const worker = startProcess()
  await worker.reached('put 5')
  await s3.kill()
  const waiting = await eventually(
    'the job waits',
    async () => {
      const job = await jobOf(db, id)
      return job.error !== null && job
    },
    { timeout_ms: 20_000, interval_ms: 10 },
  )
  expect(waiting.error).toContain('blob store')
  expect(['queued', 'running']).toContain(waiting.state)
  await s3.restart()
  const archive = await jobIn(db, id, 'succeeded', 'failed')
  await expectWhole(archive)

  const { job, slice_id } = await enqueueRestore(archive)
  await worker.reached('insert 5')
  await s3.kill()
  await eventually(
    'the job waits',
    async () => (await jobOf(db, job.id)).error?.includes('blob store'),
    {
      timeout_ms: 20_000,
      interval_ms: 10,
    },
  )
  await s3.restart()
  expect((await jobIn(db, job.id, 'succeeded', 'failed')).state).toBe('succeeded')
  await expectRestored(slice_id)
  await worker.kill()
})
