import { z } from 'zod'
import { cutPage, decodeCursor, encodeCursor } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { cursorParameter, flagParameter, limitParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { type Job, listJobs, readJob } from '../../../jobs/index.ts'
import { dryRunKind, type RetentionDb, type RetentionDeps, retentionKind } from '../contract.ts'
import { type BucketPosition, selectBuckets } from './bucket-store.ts'
import {
  bucketSchema,
  runFields,
  runSchema,
  toRetentionBucket,
  toRetentionRun,
} from './run-schema.ts'

export const runParams = z.strictObject({
  job_id: z.string().describe('The `job_id` of the list.'),
})

/** GET /api/v2/observability/retention/runs: runs of retention, newest first. */
export function listRetentionRuns({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention/runs',
    id: 'listRetentionRuns',
    summary: 'Runs of retention, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query: z.strictObject({
      dry_run: flagParameter('`true`: dry runs instead of runs. The last 20 are kept.'),
      limit: limitParameter,
      cursor: cursorParameter,
    }),
    reply: record('RetentionRunList', {
      runs: z.array(runSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { dry_run, ...query }, caller: { project_id } }) => {
      const kind = dry_run ? dryRunKind : retentionKind
      const { jobs, ...page } = await listJobs(db, { project_id, kind }, query)
      return { runs: jobs.map(toRetentionRun), ...page }
    },
  })
}

/** GET /api/v2/observability/retention/runs/{job_id}: a run with a page of its buckets. */
export function getRetentionRun({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/retention/runs/{job_id}',
    id: 'getRetentionRun',
    summary: 'A run of retention or a dry run, with its buckets',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    params: runParams,
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: record('RetentionRunDetail', {
      ...runFields,
      buckets: z.array(bucketSchema).describe('A page of buckets, oldest day first.'),
      next_cursor: z.string().nullable(),
    }),
    errors: ['job_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, query: { limit, cursor }, caller }) => {
      const job = await findRun(db, { project_id: caller.project_id, id })
      const list = `buckets of ${job.id}`
      const after = cursor === undefined ? undefined : positionIn(list, cursor)
      const rows = await selectBuckets(db, job.id, { after, limit: limit + 1 })
      const { items: page, last } = cutPage(rows, limit)
      const position = last && [last.day, last.kind, last.environment, last.action]
      const next_cursor = position === undefined ? null : encodeCursor(list, position)
      return { ...toRetentionRun(job), buckets: page.map(toRetentionBucket), next_cursor }
    },
  })
}

/** Returns a run or a dry run of the project. Throws `job_not_found`, `store_unavailable`. */
export function findRun(db: RetentionDb, key: Pick<Job, 'project_id' | 'id'>): Promise<Job> {
  return readJob(db, { ...key, kind: retentionKind, or_kind: dryRunKind })
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
