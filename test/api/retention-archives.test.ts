import { afterAll, beforeAll, expect, test } from 'vitest'
import { findJobs, type Job } from '../../src/capabilities/jobs/index.ts'
import { enqueueTestJob, jobIn, startWorker } from '../support/job-workers.ts'
import { dateAgo, daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

async function projectWith(policy: object, agos: readonly number[]): Promise<string> {
  const project = await api.newProject()
  for (const ago of agos)
    await store(project, { id: `o-${ago}`, ago, stored: `${dateAgo(5)} 12:00:00` })
  const { status } = await api.call('PUT', '/retention-policy', project, { body: policy })
  expect(status).toBe(200)
  return project
}

/**
 * Stores an observation as of some instant: archives have the rows that were stored before them.
 */
async function store(
  project: string,
  { id, ago, stored }: { id: string; ago: number; stored: string },
): Promise<void> {
  await api.columnar.command(
    `INSERT INTO observations
       (project_id, trace_id, observation_id, start_time, end_time, content_state, ingested_at)
     SELECT {project:UUID}, generateUUIDv4(), {id:String},
       fromUnixTimestamp64Nano({at:Int64}, 'UTC') AS time, time, 'full', {stored:String}`,
    { project, id, at: daysAgo(ago), stored },
  )
}

/**
 * Replaces the archive capability: records the archives that exist and those that are requested.
 */
async function archiveAll(project: string, result: object = { verified: true }): Promise<void> {
  const worker = startWorker(api.db, [{ kind: 'archive', run: async () => ({ ...result }) }])
  for (const { id } of await archivesOf(project)) await jobIn(api.db, id, 'succeeded')
  await worker.stop()
}

function archivesOf(project: string): Promise<Job[]> {
  return findJobs(api.db, { project_id: project, kind: 'archive', limit: 100 })
}

async function left(project: string): Promise<string[]> {
  const rows = await api.ask<{ id: string }>(
    'SELECT observation_id AS id FROM observations WHERE project_id = {project:UUID} ORDER BY id',
    { project },
  )
  return rows.map(({ id }) => id)
}

test('a day that is being archived is neither deleted nor masked, under any policy', async () => {
  const body = { days: { content: 7, observations: 30 } }
  const project = await projectWith(body, [40, 41, 10])
  const window = (ago: number) => ({
    params: { from: `${dateAgo(ago)}T06:00:00.000Z`, to: `${dateAgo(ago)}T07:00:00.000Z` },
  })
  const archives = [
    await enqueueTestJob(api.db, { project_id: project, kind: 'archive', ...window(40) }),
    await enqueueTestJob(api.db, { project_id: project, kind: 'archive', ...window(10) }),
  ]
  expect((await api.dryRun(project)).buckets).toMatchObject([
    { day: dateAgo(41), action: 'delete', reason: null, rows: 1 },
    { day: dateAgo(40), action: 'keep', reason: 'archive_running', rows: 1 },
    { day: dateAgo(10), action: 'keep', reason: 'archive_running', rows: 1 },
  ])
  const run = await api.run(project)
  expect(run['result']).toMatchObject({ deleted_rows: 1, masked_rows: 0, kept_rows: 2 })
  expect(await left(project)).toEqual(['o-10', 'o-40'])
  await archiveAll(project)
  expect(await archivesOf(project)).toHaveLength(archives.length)
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 1, masked_rows: 1 })
})

test('with archive_before_delete a day is deleted once a verified archive has all of it', async () => {
  const body = { days: { observations: 30 }, archive_before_delete: true }
  const project = await projectWith(body, [40, 41, 10])
  const asked = await api.run(project)
  expect(asked['result']).toMatchObject({ deleted_rows: 0, kept_rows: 2, archives_requested: 2 })
  expect(asked['buckets']).toMatchObject([
    { day: dateAgo(41), action: 'keep', reason: 'archive_missing' },
    { day: dateAgo(40), action: 'keep', reason: 'archive_missing' },
  ])
  const archives = await archivesOf(project)
  expect(archives.map(({ params }) => params).toReversed()).toMatchObject([
    { from: `${dateAgo(41)}T00:00:00.000Z`, to: `${dateAgo(40)}T00:00:00.000Z` },
    { from: `${dateAgo(40)}T00:00:00.000Z`, to: `${dateAgo(39)}T00:00:00.000Z` },
  ])
  expect(archives[0]?.requested_by).toBe(`job:${asked['job_id']}`)
  // While they are written nothing is deleted, and no others are requested.
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 0 })
  expect(await archivesOf(project)).toHaveLength(2)
  expect(await left(project)).toHaveLength(3)

  await archiveAll(project)
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 2, kept_rows: 0 })
  expect(await left(project)).toEqual(['o-10'])
})

test('an unverified archive does not count', async () => {
  const body = { days: { observations: 30 }, archive_before_delete: true }
  const project = await projectWith(body, [40])
  await api.run(project)
  await archiveAll(project, { verified: false })
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 0, kept_rows: 1 })
  expect(await left(project)).toEqual(['o-40'])
})

test('rows that arrived after the archive stay until another one has them', async () => {
  const body = { days: { observations: 30 }, archive_before_delete: true }
  const project = await projectWith(body, [40])
  await api.run(project)
  await archiveAll(project)
  await store(project, { id: 'late', ago: 40, stored: `${dateAgo(-1)} 12:00:00` })
  const run = await api.run(project)
  expect(run['result']).toMatchObject({ deleted_rows: 1, archives_requested: 1 })
  expect(run['buckets']).toMatchObject([{ action: 'delete', reason: 'archive_missing', rows: 1 }])
  expect(await left(project)).toEqual(['late'])
})
