import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { nsFromIso } from '../../../model/list-query.ts'
import { documentedAs } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { enqueueJob, requesterOf } from '../../jobs/index.ts'
import { checkRecordFilter, filterSchema } from '../../query/index.ts'
import type { ArchiveDeps } from './archive-deps.ts'
import { archiveRunSchema, shownArchiveRun } from './archive-runs.ts'
import { archiveJob } from './contract.ts'
import { kindNames } from './kinds.ts'

/**
 * POST /api/v2/observability/archive/run: has a worker write the rows of a window into files. Rows
 * that are stored while it runs are left to the next one.
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
      return shownArchiveRun(job)
    },
  })
}

/** There is nowhere to write to, or to read from. */
export function notConfigured() {
  return problem('archive_not_configured', {
    detail: 'Set LOOPTRACE_BLOBS_URL for the roles api and worker.',
  })
}

const instant = z.iso.datetime({ offset: true })

/** A window in instants of ISO 8601. */
export const windowSchema = z
  .strictObject({
    from: instant.describe('ISO 8601; from here on.'),
    to: instant.describe('ISO 8601; before this.'),
  })
  .meta({ id: 'ArchiveWindow' })
  .superRefine(({ from, to }, context) => {
    const [begin, end] = [nsFromIso(from), nsFromIso(to)]
    if (begin !== undefined && end !== undefined && begin < end) return
    const message = `got ${from}, expected an instant from 1970 on and before to, ${to}`
    context.addIssue({ code: 'custom', path: ['from'], message })
  })

/** Kinds of rows, each once. */
export const kindsSchema = z
  .array(z.enum(kindNames).meta({ id: 'RecordKind' }))
  .min(1)
  .refine((kinds) => new Set(kinds).size === kinds.length, 'expected each kind once')

/** A run is a job of hours at most, and its days are gone through one by one. */
const days_max = 400
const day_ns = 86_400_000_000_000n

const bodySchema = z
  .strictObject({
    window: windowSchema.describe(`At most ${days_max} days.`),
    kinds: kindsSchema.optional().describe('All when left out.'),
    where: documentedAs(z.unknown(), filterSchema)
      .optional()
      .describe('Over fields that all of the kinds have; all rows without it.'),
    reason: z.string().max(1_000).optional().describe('Stands in the run and in the manifest.'),
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
