import { z } from 'zod'
import { cutPage, decodeCursor, encodeCursor } from '../../../../kernel/pages.ts'
import { poll } from '../../../../kernel/poll.ts'
import { problem } from '../../../../kernel/problem.ts'
import { pageFields } from '../../../../model/id-pages.ts'
import { cursorParameter, flagParameter, limitParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  type Route,
  requesterOf,
} from '../../../../platform/http/index.ts'
import { cancelJob, enqueueJob, type Job, listJobs, readJob } from '../../../jobs/index.ts'
import { dryRunKind, type RetentionDb, type RetentionDeps, retentionKind } from '../contract.ts'
import type { RetentionRules } from '../retention-policy/rules.ts'
import { retentionTable } from '../retention-policy/store.ts'
import { type BucketPosition, selectBuckets } from './bucket-store.ts'
import {
  bucketSchema,
  runFields,
  runSchema,
  toRetentionBucket,
  toRetentionRun,
} from './run-schema.ts'

/** Longest wait for the end of a run. */
const wait_ms_max = 10_000

/** Query parameter of routes that start a run. */
export const waitParameter = flagParameter('`true`: answer when the run has ended, or after 10 s.')

/**
 * POST /api/v2/observability/retention/run: queues a run that applies the policy now, like the
 * daily run. With `dry_run=true` the run only counts the rows that would be deleted.
 */
export function runRetention(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/retention/run',
    id: 'runRetention',
    summary: 'Delete the rows that are due under the policy, or count them with a dry run',
    status: 202,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    query: z.strictObject({
      dry_run: flagParameter('`true`: only count the rows that a run would delete.'),
      wait: waitParameter,
    }),
    reply: runSchema,
    errors: ['job_running', 'store_unavailable'],
    handle: ({ query: { dry_run, wait }, caller, signal }) => {
      const start = dry_run ? startDryRun : startRun
      return start(deps, { caller, wait, signal })
    },
  })
}

/** The caller that starts a run, and whether the answer waits for its end. */
export type RunRequest = { caller: Caller; wait: boolean | undefined; signal: AbortSignal }

type RunAnswer = Answer<z.input<typeof runSchema>>

/** Starts a run of the stored policy. Throws `job_running`, `store_unavailable`. */
async function startRun(deps: RetentionDeps, request: RunRequest): Promise<RunAnswer> {
  return answerRun(
    deps.db,
    await enqueue(deps, request, { kind: retentionKind, params: {} }),
    request,
  )
}

/**
 * Starts a dry run of the given rules, or else of the stored policy. A project has one at a time.
 * Throws `job_running`, `store_unavailable`.
 */
export async function startDryRun(
  deps: RetentionDeps,
  request: RunRequest,
  given?: RetentionRules,
): Promise<RunAnswer> {
  const { project_id } = request.caller
  const { days, environments, archive_before_delete } =
    given ?? (await retentionTable.read(deps.db, project_id))
  const params = { rules: { days, environments, archive_before_delete } }
  return answerRun(deps.db, await enqueue(deps, request, { kind: dryRunKind, params }), request)
}

function enqueue(
  { db, clock }: RetentionDeps,
  { caller }: RunRequest,
  { kind, params }: Pick<Job, 'kind' | 'params'>,
): Promise<Job> {
  const { project_id } = caller
  const request = { project_id, kind, params, exclusive_key: kind, clock }
  return enqueueJob(db, { ...request, requested_by: requesterOf(caller) })
}

async function answerRun(
  db: RetentionDb,
  job: Job,
  { wait, signal }: RunRequest,
): Promise<RunAnswer> {
  const ask = () => readJob(db, job)
  const shown = wait ? await poll(ask, hasEnded, { wait_ms_max, signal }) : job
  const location = `/api/v2/observability/retention/runs/${job.id}`
  return new Answer(toRetentionRun(shown), { status: 202, headers: { location } })
}

function hasEnded({ state }: Job): boolean {
  return state === 'succeeded' || state === 'failed'
}

/**
 * POST /api/v2/observability/retention/runs/{job_id}/cancel: ends a run or a dry run as `failed`.
 * Its worker stops before its next statement; deleted rows stay deleted. A run that has ended is
 * returned unchanged.
 */
export function cancelRetentionRun({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/retention/runs/{job_id}/cancel',
    id: 'cancelRetentionRun',
    summary: 'Cancel a run of retention or a dry run',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    params: runParams,
    reply: runSchema,
    errors: ['job_not_found', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, caller }) => {
      const job = await findRun(db, { project_id: caller.project_id, id })
      return toRetentionRun(await cancelJob(db, job, requesterOf(caller)))
    },
  })
}

const runParams = z.strictObject({
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
      ...pageFields,
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
function findRun(db: RetentionDb, key: Pick<Job, 'project_id' | 'id'>): Promise<Job> {
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
