import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import { documentedAs } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { enqueueJob, requesterOf } from '../../jobs/index.ts'
import { checkRecordFilter, filterSchema } from '../../query/index.ts'
import { type ArchiveDeps, archiveJob } from './contract.ts'
import { kindNames } from './kinds.ts'
import { archiveRunSchema, toArchiveRun } from './runs.ts'

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
      const { project_id } = caller
      const job = await enqueueJob(db, {
        ...{ project_id, kind: archiveJob, clock },
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
