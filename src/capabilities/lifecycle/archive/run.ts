import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import { documentedAs, record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import { enqueueJob, type Job, jobFields, jobRunRoutes, shownJob } from '../../jobs/index.ts'
import { checkRecordFilter, filterSchema } from '../../query/index.ts'
import { type ArchiveDeps, archiveJob, readArchiveParams } from './contract.ts'
import { kindNames } from './kinds.ts'

/**
 * POST /api/v2/observability/archive/run: queues a run that writes the rows of a window into files.
 * Rows that are stored during the run are left for the next run.
 */
export function runArchive({ db, clock, is_configured }: ArchiveDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/archive/run',
    id: 'runArchive',
    summary: 'Archive the rows of a window as Parquet files',
    status: 202,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    idempotent: true,
    body: bodySchema,
    reply: archiveRunSchema,
    errors: ['archive_not_configured', 'store_unavailable'],
    handle: async ({ body: { window, ...body }, caller }) => {
      if (!is_configured) throw notConfigured()
      const job = await enqueueJob(db, {
        project_id: caller.project_id,
        kind: archiveJob,
        clock,
        params: { ...window, ...body },
        requested_by: requesterOf(caller),
      })
      return toArchiveRun(job)
    },
  })
}

/** Returns the error for a service without a blob store. */
export function notConfigured() {
  return problem('archive_not_configured', {
    detail: 'Set LOOPTRACE_BLOBS_URL for the roles api and worker.',
  })
}

const instant = z.iso.datetime({ offset: true })

/** A window in instants of ISO 8601. */
export const windowSchema = z
  .strictObject({
    from: instant.describe('Start, inclusive; ISO 8601.'),
    to: instant.describe('End, exclusive; ISO 8601.'),
  })
  .meta({ id: 'ArchiveWindow' })
  .superRefine(({ from, to }, context) => {
    const [begin, end] = [nsFromIso(from), nsFromIso(to)]
    if (begin !== undefined && end !== undefined && begin < end) return
    const message = `got ${from}, expected an instant since 1970 and before to, ${to}`
    context.addIssue({ code: 'custom', path: ['from'], message })
  })

/** Kinds of rows, each once. */
export const kindsSchema = z
  .array(z.enum(kindNames).meta({ id: 'RecordKind' }))
  .min(1)
  .refine((kinds) => new Set(kinds).size === kinds.length, 'expected each kind once')

/** Longest window of a run, whose days are processed one by one; it bounds a run to hours. */
const days_max = 400
const day_ns = 86_400_000_000_000n

const bodySchema = z
  .strictObject({
    window: windowSchema.describe(`At most ${days_max} days.`),
    kinds: kindsSchema.optional().describe('Kinds of rows. Default: all.'),
    where: documentedAs(z.unknown(), filterSchema)
      .optional()
      .describe('Filter over fields that all of the kinds have. Default: all rows.'),
    reason: z
      .string()
      .max(1_000)
      .optional()
      .describe('Reason, stored with the run and in the manifest; at most 1,000 characters.'),
  })
  .superRefine(({ window, kinds = kindNames, where }, context) => {
    const [from = 0n, to = 0n] = [nsFromIso(window.from), nsFromIso(window.to)]
    if (to - from > BigInt(days_max) * day_ns) {
      const message = `expected at most ${days_max} days`
      context.addIssue({ code: 'custom', path: ['window'], message })
    }
    if (where === undefined) return
    for (const kind of kinds) {
      for (const { path, message } of checkRecordFilter(kind, where)) {
        context.addIssue({ code: 'custom', path, message: `${kind}: ${message}` })
      }
    }
  })
  .meta({ id: 'RunArchiveRequest' })

const count = z.int().nonnegative()

/** The window of a run, as requested. */
export const archivedWindow = record('ArchivedWindow', { from: z.string(), to: z.string() })

/** An archive run in replies. */
const archiveRunSchema = record('ArchiveRun', {
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
function toArchiveRun(job: Job): z.input<typeof archiveRunSchema> {
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

/** GET /api/v2/observability/archive/runs, and one run: archive runs, newest first. */
export function archiveRunRoutes({ db }: ArchiveDeps): Route[] {
  return jobRunRoutes(db, {
    kind: archiveJob,
    url: '/api/v2/observability/archive/runs',
    item_url: '/api/v2/observability/archive/runs/{job_id}',
    list: { id: 'listArchiveRuns', summary: 'Archive runs, newest first', reply: 'ArchiveRunList' },
    get: { id: 'getArchiveRun', summary: 'An archive run and its progress' },
    run: archiveRunSchema,
    toRun: toArchiveRun,
  })
}
