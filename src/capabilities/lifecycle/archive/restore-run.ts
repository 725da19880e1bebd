import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { enqueueJob, type Job, type JobValue, readJob, requesterOf } from '../../jobs/index.ts'
import type { ArchiveDeps } from './archive-deps.ts'
import { kindsSchema, notConfigured, windowSchema } from './archive-run.ts'
import { archiveJob, manifestOf, readArchiveParams, restoreJob } from './contract.ts'
import { kindNames } from './kinds.ts'
import { restoreRunSchema, shownRestoreRun } from './restore-runs.ts'
import { countSlices, insertSlice, type NewSlice, slices_max } from './slice-store.ts'

/**
 * POST /api/v2/observability/restore: has a worker bring archived rows back into a slice of its
 * own, which queries see with `include_restored` once it is whole, and until it expires.
 */
export function runRestore(deps: ArchiveDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/restore',
    id: 'runRestore',
    summary: 'Bring archived rows back for a while',
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
      const { db, clock } = deps
      const { project_id } = caller
      const id = body.archive_run_id
      const archive = await readJob(db, { project_id, kind: archiveJob, id })
      const { manifest, manifest_sha256 } = verifiedManifest(archive)
      assertOverlap(archive, body.window)
      const requested_by = requesterOf(caller)
      const created_at = new Date(clock.now_ms())
      const slice_id = newId()
      return restoreInto(deps, {
        request: {
          ...{ project_id, kind: restoreJob, requested_by, clock },
          params: {
            ...{ archive_run_id: id, slice_id, manifest, manifest_sha256, slice: body.slice },
            ...{ ...body.window, kinds: body.kinds },
          },
        },
        slice: {
          ...{ id: slice_id, project_id, name: body.slice, archive_run_id: id, created_at },
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
  archive_run_id: z.uuid().describe('The `job_id` of an archive run that succeeded.'),
  slice: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected a name like incident-42')
    .describe('A name for what is restored, unique among the slices of the project.'),
  window: windowSchema
    .optional()
    .describe('Whole UTC days are restored: those that it touches. All when left out.'),
  kinds: kindsSchema.optional().describe('All that were archived when left out.'),
  expires_in_days: z.int().min(1).max(365).default(7).describe('Then the slice is deleted.'),
})

type Asked = {
  request: Parameters<typeof enqueueJob>[1] & { params: JobValue }
  slice: Omit<NewSlice, 'job_id'>
}

/** The slice and its job, both or none. */
function restoreInto({ db }: ArchiveDeps, asked: Asked) {
  return db.transaction().execute((transaction) => noteRestore(transaction, asked))
}

async function noteRestore(db: ArchiveDeps['db'], { request, slice }: Asked) {
  const { project_id, name } = slice
  const there = await countSlices(db, { project_id })
  if (there >= slices_max) {
    throw problem('limit_reached', {
      detail: `The project has ${there} slices, as many as it may have; delete one first.`,
    })
  }
  const job = await enqueueJob(db, request)
  if (await insertSlice(db, { ...slice, job_id: job.id })) return shownRestoreRun(job)
  throw problem('name_taken', { detail: `slice: got "${name}", which the project has already` })
}

function verifiedManifest(archive: Job) {
  const found = archive.state === 'succeeded' ? manifestOf(archive.result) : undefined
  if (found !== undefined) return found
  throw problem('archive_not_verified', {
    detail: `The archive run ${archive.id} is ${archive.state}, expected one that succeeded.`,
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
