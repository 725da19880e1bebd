import { z } from 'zod'
import { cursorParameter, limitParameter } from '../../../model/list-query.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type Job, jobFields, listJobs, readJob, shownJob } from '../../jobs/index.ts'
import { filterSchema } from '../../query/index.ts'
import { type ArchiveDeps, archiveJob, readArchiveParams } from './contract.ts'
import { kindNames } from './kinds.ts'

const count = z.int().nonnegative()

/** The window of a run, as requested. */
export const archivedWindow = record('ArchivedWindow', { from: z.string(), to: z.string() })

/** An archive run in replies. */
export const archiveRunSchema = record('ArchiveRun', {
  ...jobFields,
  window: archivedWindow,
  kinds: z.array(z.enum(kindNames)),
  where: documentedAs(z.unknown(), filterSchema)
    .nullable()
    .describe('Filter of the rows; null without one.'),
  reason: z.string().nullable(),
  progress: z
    .strictObject({
      kind: z.enum(kindNames).nullable(),
      day: z.iso.date().nullable().describe('Day that the run is writing.'),
      files: count,
      rows: count,
      bytes: count,
    })
    .meta({ id: 'ArchiveProgress' })
    .nullable(),
  result: z
    .strictObject({
      verified: z.literal(true).describe('Every file was read back and matches what was written.'),
      manifest: z.string().describe('Name of the manifest in the blob store.'),
      manifest_sha256: z.string(),
      files: count,
      rows: count,
      bytes: count.describe('Size of the compressed files.'),
      stored_before: z.iso
        .datetime()
        .describe('The archive has the rows that were stored before this instant.'),
    })
    .meta({ id: 'ArchiveResult' })
    .nullable()
    .describe('null until the run has succeeded.'),
})

/** Shapes an archive run for a reply. */
export function toArchiveRun(job: Job): z.input<typeof archiveRunSchema> {
  const { from, to, where, kinds, reason } = readArchiveParams(job.params)
  return {
    ...shownJob(job),
    window: { from, to },
    kinds: kinds ?? [...kindNames],
    where: where ?? null,
    reason: reason ?? null,
    progress: job.progress && progressSchema.parse(job.progress),
    result: job.result && resultSchema.parse(job.result),
  }
}

const progressSchema = z.object({
  kind: z.enum(kindNames).nullable().default(null),
  day: z.string().nullable().default(null),
  files: count,
  rows: count,
  bytes: count,
})
const resultSchema = z.object({
  verified: z.literal(true),
  manifest: z.string(),
  manifest_sha256: z.string(),
  files: count,
  rows: count,
  bytes: count,
  stored_before: z.string(),
})

/** GET /api/v2/observability/archive/runs: archive runs, newest first. */
export function listArchiveRuns({ db }: ArchiveDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/archive/runs',
    id: 'listArchiveRuns',
    summary: 'Archive runs, newest first',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: record('ArchiveRunList', {
      runs: z.array(archiveRunSchema),
      total: count,
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { jobs, ...page } = await listJobs(db, { project_id, kind: archiveJob }, query)
      return { runs: jobs.map(toArchiveRun), ...page }
    },
  })
}

/** GET /api/v2/observability/archive/runs/{job_id}: one run. */
export function getArchiveRun({ db }: ArchiveDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/archive/runs/{job_id}',
    id: 'getArchiveRun',
    summary: 'An archive run and its progress',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    params: z.strictObject({ job_id: z.string().describe('The `job_id` of the list.') }),
    reply: archiveRunSchema,
    errors: ['job_not_found', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, caller: { project_id } }) =>
      toArchiveRun(await readJob(db, { project_id, kind: archiveJob, id })),
  })
}
