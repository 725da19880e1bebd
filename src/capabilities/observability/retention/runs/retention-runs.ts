import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { cursorParameter, flagParameter, limitParameter } from '../../../../model/list-query.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import { asStoreProblem } from '../../../../platform/relational/index.ts'
import {
  enqueueJob,
  type Job,
  jobFields,
  listJobs,
  readJob,
  requesterOf,
  shownJob,
} from '../../jobs/index.ts'
import { defaultRetention } from '../policy/rules.ts'
import { findRetention } from '../policy/store.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { bucketSchema, dateOf, type ShownBucket } from './bucket-schema.ts'
import { type BucketPosition, type RunBucket, selectBuckets } from './bucket-store.ts'
import { dryRunOf, dryRunSchema } from './dry-run.ts'
import { retentionKind } from './retention-kind.ts'

const count = z.int().nonnegative()

const runFields = {
  ...jobFields,
  progress: z
    .strictObject({
      steps: count.describe('Days and kinds that are done.'),
      day: z.iso.date().describe('The day that was done last.'),
    })
    .nullable(),
  result: z
    .strictObject({
      as_of: z.iso.datetime().describe('The instant that ages were measured at.'),
      buckets: count,
      deleted_rows: count,
      deleted_bytes: count,
      masked_rows: count,
      held_rows: count,
      kept_rows: count.describe(
        'Rows that were due and stay for want of an archive, or from the future.',
      ),
      archives_requested: count.describe(
        'Days that are being archived, for the next run to delete.',
      ),
    })
    .nullable()
    .describe('null until it has succeeded.'),
}

const runSchema = z.strictObject(runFields)

/**
 * POST /api/v2/observability/retention/run: has a worker do now what the daily run would. With
 * `dry_run=true` it answers what that would be, and does nothing.
 */
export function runRetention(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/retention/run',
    id: 'runRetention',
    summary: 'Delete now what is due under the policy, or see what that would be',
    status: 202,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    query: z.strictObject({
      dry_run: flagParameter('`true`: 200 with what a run would do; nothing is deleted.'),
    }),
    reply: runSchema,
    also: {
      status: 200,
      description: 'With `dry_run=true`: what a run would do now.',
      reply: z.strictObject({ dry_run: dryRunSchema }),
    },
    errors: ['job_running', 'store_unavailable'],
    handle: async ({ query: { dry_run }, caller }) => {
      const { db, clock } = deps
      const { project_id } = caller
      if (dry_run) {
        const rules = (await findRetention(db, project_id).catch(rethrow)) ?? defaultRetention
        return new Answer({ dry_run: await dryRunOf(deps, { project_id, rules }) }, { status: 200 })
      }
      const requested_by = requesterOf(caller)
      const asked = { project_id, kind: retentionKind, exclusive_key: retentionKind }
      return shownRun(await enqueueJob(db, { ...asked, params: {}, requested_by, clock }))
    },
  })
}

/** GET /api/v2/observability/retention/runs: newest first. */
export function listRetentionRuns({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention/runs',
    id: 'listRetentionRuns',
    summary: 'Runs of retention, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: z.strictObject({
      runs: z.array(runSchema),
      total: count,
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { jobs, ...page } = await listJobs(db, { project_id, kind: retentionKind }, query)
      return { runs: jobs.map(shownRun), ...page }
    },
  })
}

/** GET /api/v2/observability/retention/runs/{job_id}: a run with a page of its buckets. */
export function getRetentionRun({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention/runs/{job_id}',
    id: 'getRetentionRun',
    summary: 'A run of retention with what it did, by day and bucket',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    params: z.strictObject({ job_id: z.string().describe('The `job_id` of the list.') }),
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: z.strictObject({
      ...runFields,
      buckets: z.array(bucketSchema).describe('A page of them, oldest day first.'),
      next_cursor: z.string().nullable(),
    }),
    errors: ['job_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, query: { limit, cursor }, caller }) => {
      const job = await readJob(db, { project_id: caller.project_id, kind: retentionKind, id })
      const list = `buckets of ${job.id}`
      const after = cursor === undefined ? undefined : positionIn(list, cursor)
      const rows = await selectBuckets(db, job.id, { after, limit: limit + 1 }).catch(rethrow)
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const position = last && [last.day, last.kind, last.environment, last.action]
      const next_cursor = position === undefined ? null : encodeCursor(list, position)
      return { ...shownRun(job), buckets: page.map(shownBucket), next_cursor }
    },
  })
}

function rethrow(error: unknown): never {
  throw asStoreProblem(error)
}

function shownRun(job: Job): z.input<typeof runSchema> {
  const { progress, result } = job
  return {
    ...shownJob(job),
    progress:
      progress === null
        ? null
        : { steps: Number(progress['steps']), day: dateOf(Number(progress['day'])) },
    result: result as z.input<typeof runSchema>['result'],
  }
}

function shownBucket(bucket: RunBucket): ShownBucket {
  const { day, environment, action, row_count: rows, bytes, held_rows } = bucket
  const { kind, reason } = bucketSchema
    .pick({ kind: true, reason: true })
    .parse({ kind: bucket.kind, reason: bucket.reason })
  return { day: dateOf(day), kind, environment, action, reason, rows, bytes, held_rows }
}

function positionIn(list: string, cursor: string): BucketPosition {
  const [day, kind, environment, action] = decodeCursor(list, cursor, 4)
  const known = action === 'mask' || action === 'delete' || action === 'keep'
  if (Number.isSafeInteger(day) && typeof kind === 'string' && known) {
    return { day: Number(day), kind, environment: String(environment), action }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this run`,
  })
}
