import { z } from 'zod'
import { cursorParameter, limitParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { type Job, jobFields, listJobs, readJob, shownJob } from '../../../jobs/index.ts'
import { type ArchiveDeps, readRestoreParams, restoreJob } from '../contract.ts'
import { kindNames } from '../kinds.ts'
import { archivedWindow } from '../runs.ts'

const count = z.int().nonnegative()

/** A restore run in replies. */
export const restoreRunSchema = record('RestoreRun', {
  ...jobFields,
  archive_run_id: z.uuid(),
  slice_id: z.uuid(),
  window: archivedWindow.nullable(),
  kinds: z.array(z.enum(kindNames)).nullable().describe('Kinds of rows; null: all archived kinds.'),
  progress: z
    .strictObject({ files: count, files_total: count, rows: count })
    .meta({ id: 'RestoreProgress' })
    .nullable()
    .describe('Verified and restored files.'),
  result: z
    .strictObject({
      verified: z.literal(true).describe('The restored rows match the archive.'),
      slice_id: z.uuid(),
      files: count,
      rows: count,
      bytes: count,
      erased_rows: count.describe('Rows left out because their users were erased since.'),
    })
    .meta({ id: 'RestoreResult' })
    .nullable()
    .describe('null until the run has succeeded.'),
})

const progressSchema = z.object({ files: count, files_total: count, rows: count })

/** Shapes a restore run for a reply. */
export function toRestoreRun(job: Job): z.input<typeof restoreRunSchema> {
  const { archive_run_id, slice_id, from, to, kinds } = readRestoreParams(job.params)
  return {
    ...shownJob(job),
    ...{ archive_run_id, slice_id },
    window: from && to ? { from, to } : null,
    kinds: kinds ?? null,
    progress: job.progress && progressSchema.parse(job.progress),
    result: job.result as z.input<typeof restoreRunSchema>['result'],
  }
}

/** GET /api/v2/observability/restore/runs: restore runs, newest first. */
export function listRestoreRuns({ db }: ArchiveDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/restore/runs',
    id: 'listRestoreRuns',
    summary: 'Restore runs, newest first',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: record('RestoreRunList', {
      runs: z.array(restoreRunSchema),
      total: count,
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { jobs, ...page } = await listJobs(db, { project_id, kind: restoreJob }, query)
      return { runs: jobs.map(toRestoreRun), ...page }
    },
  })
}

/** GET /api/v2/observability/restore/runs/{job_id}: one run. */
export function getRestoreRun({ db }: ArchiveDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/restore/runs/{job_id}',
    id: 'getRestoreRun',
    summary: 'A restore run and its progress',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    params: z.strictObject({ job_id: z.string().describe('The `job_id` of the list.') }),
    reply: restoreRunSchema,
    errors: ['job_not_found', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, caller: { project_id } }) =>
      toRestoreRun(await readJob(db, { project_id, kind: restoreJob, id })),
  })
}
