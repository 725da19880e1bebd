import { z } from 'zod'
import { newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import {
  enqueueJob,
  type Job,
  type JobValue,
  jobFields,
  jobRunRoutes,
  readJob,
  shownJob,
} from '../../../jobs/index.ts'
import {
  type ArchiveDeps,
  archiveJob,
  manifestOf,
  readArchiveParams,
  readRestoreParams,
  restoreJob,
} from '../contract.ts'
import { kindNames } from '../kinds.ts'
import { archivedWindow, kindsSchema, notConfigured, windowSchema } from '../run.ts'
import { countSlices, insertSlice, type NewSlice, slices_max } from './store.ts'

/**
 * POST /api/v2/observability/restore: queues a run that restores archived rows into a new slice.
 * Queries see the slice with `include_restored` once it is complete, until it expires.
 */
export function runRestore(deps: ArchiveDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/restore',
    id: 'runRestore',
    summary: 'Restore archived rows for a limited time',
    status: 202,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    idempotent: true,
    body: bodySchema,
    reply: restoreRunSchema,
    errors: [
      'archive_not_configured',
      'archive_not_verified',
      'job_not_found',
      'limit_reached',
      'name_taken',
      'store_unavailable',
    ],
    handle: async ({ body, caller }) => {
      if (!deps.is_configured) throw notConfigured()
      const { project_id } = caller
      const id = body.archive_run_id
      const archive = await readJob(deps.db, { project_id, kind: archiveJob, id })
      const { manifest, manifest_sha256 } = requireManifest(archive)
      assertOverlap(archive, body.window)
      const requested_by = requesterOf(caller)
      const created_at = new Date(deps.clock.now_ms())
      const slice_id = newId()
      return restoreInto(deps, {
        request: {
          project_id,
          kind: restoreJob,
          requested_by,
          clock: deps.clock,
          params: {
            archive_run_id: id,
            slice_id,
            manifest,
            manifest_sha256,
            slice: body.slice,
            ...body.window,
            kinds: body.kinds,
          },
        },
        slice: {
          id: slice_id,
          project_id,
          name: body.slice,
          archive_run_id: id,
          created_at,
          kinds: body.kinds ?? [...kindNames],
          window_from: body.window?.from ?? null,
          window_to: body.window?.to ?? null,
          created_by: requested_by,
          expires_at: new Date(created_at.getTime() + body.expires_in_days * day_ms),
        },
      })
    },
  })
}

const day_ms = 86_400_000

const bodySchema = record('RunRestoreRequest', {
  archive_run_id: z.uuid().describe('The `job_id` of a successful archive run.'),
  slice: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected a name like incident-42')
    .describe('Name of the slice, unique in the project.'),
  window: windowSchema
    .optional()
    .describe('Restores the whole UTC days that the window touches. Default: all days.'),
  kinds: kindsSchema.optional().describe('Kinds of rows. Default: all archived kinds.'),
  expires_in_days: z
    .int()
    .min(1)
    .max(365)
    .default(7)
    .describe('Days after which the slice is deleted, 1–365.'),
})

type NewRestore = {
  request: Parameters<typeof enqueueJob>[1] & { params: JobValue }
  slice: Omit<NewSlice, 'job_id'>
}

/** Creates the slice and its job in one transaction. */
function restoreInto({ db }: ArchiveDeps, restore: NewRestore) {
  return db.transaction().execute((transaction) => insertRestore(transaction, restore))
}

async function insertRestore(db: ArchiveDeps['db'], { request, slice }: NewRestore) {
  const { project_id, name } = slice
  const slices = await countSlices(db, { project_id })
  if (slices >= slices_max) {
    throw problem('limit_reached', {
      detail: `The project has ${slices} slices, the maximum; delete one first.`,
    })
  }
  const job = await enqueueJob(db, request)
  if (await insertSlice(db, { ...slice, job_id: job.id })) return toRestoreRun(job)
  throw problem('name_taken', { detail: `slice: the project has a slice "${name}" already` })
}

function requireManifest(archive: Job) {
  const manifest = archive.state === 'succeeded' ? manifestOf(archive.result) : undefined
  if (manifest !== undefined) return manifest
  throw problem('archive_not_verified', {
    detail: `The archive run ${archive.id} is ${archive.state}, expected succeeded.`,
  })
}

function assertOverlap(archive: Job, window: { from: string; to: string } | undefined): void {
  if (window === undefined) return
  const { from, to } = readArchiveParams(archive.params)
  if (Date.parse(window.from) < Date.parse(to) && Date.parse(window.to) > Date.parse(from)) return
  throw problem('invalid_request', {
    detail: `window: got ${window.from} to ${window.to}, the archive has ${from} to ${to}`,
    faults: [{ pointer: '/window', detail: `expected a part of ${from} to ${to}` }],
  })
}

const count = z.int().nonnegative()

/** A restore run in replies. */
const restoreRunSchema = record('RestoreRun', {
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
function toRestoreRun(job: Job): z.input<typeof restoreRunSchema> {
  const { archive_run_id, slice_id, from, to, kinds } = readRestoreParams(job.params)
  return {
    ...shownJob(job),
    archive_run_id,
    slice_id,
    window: from && to ? { from, to } : null,
    kinds: kinds ?? null,
    progress: job.progress && progressSchema.parse(job.progress),
    result: job.result as z.input<typeof restoreRunSchema>['result'],
  }
}

/** GET /api/v2/observability/restore/runs, and one run: restore runs, newest first. */
export function restoreRunRoutes({ db }: ArchiveDeps): Route[] {
  return jobRunRoutes(db, {
    kind: restoreJob,
    url: '/api/v2/observability/restore/runs',
    item_url: '/api/v2/observability/restore/runs/{job_id}',
    list: { id: 'listRestoreRuns', summary: 'Restore runs, newest first', reply: 'RestoreRunList' },
    get: { id: 'getRestoreRun', summary: 'A restore run and its progress' },
    run: restoreRunSchema,
    toRun: toRestoreRun,
  })
}
