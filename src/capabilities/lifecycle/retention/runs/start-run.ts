import type { z } from 'zod'
import { poll } from '../../../../kernel/poll.ts'
import { flagParameter } from '../../../../model/list-query.ts'
import { Answer, type Caller } from '../../../../platform/http/index.ts'
import { enqueueJob, type Job, readJob, requesterOf } from '../../../jobs/index.ts'
import { defaultRetention, type RetentionRules } from '../policy/rules.ts'
import { findRetention } from '../policy/store.ts'
import type { RetentionDb, RetentionDeps } from '../retention-deps.ts'
import { dryRunKind, retentionKind } from './retention-kind.ts'
import { type runSchema, shownRun } from './run-schema.ts'

/** The longest wait for the end of a run, in milliseconds. */
const wait_ms_max = 10_000

/** The parameter of routes that start a run. */
export const waitParameter = flagParameter('`true`: answer when the run has ended, or after 10 s.')

/** Who starts a run, and whether the answer waits for its end. */
export type RunRequest = { caller: Caller; wait: boolean | undefined; signal: AbortSignal }

type RunAnswer = Answer<z.input<typeof runSchema>>

/** Starts a run of the stored policy. Throws `job_running`, `store_unavailable`. */
export async function startRun(deps: RetentionDeps, request: RunRequest): Promise<RunAnswer> {
  return answerRun(
    deps.db,
    await enqueue(deps, request, { kind: retentionKind, params: {} }),
    request,
  )
}

/**
 * Starts a dry run of the given rules, else of the stored policy. A project has one at a time.
 * Throws `job_running`, `store_unavailable`.
 */
export async function startDryRun(
  deps: RetentionDeps,
  request: RunRequest,
  given?: RetentionRules,
): Promise<RunAnswer> {
  const { project_id } = request.caller
  const { days, environments, archive_before_delete } =
    given ?? (await findRetention(deps.db, project_id)) ?? defaultRetention
  const params = { rules: { days, environments, archive_before_delete } }
  return answerRun(deps.db, await enqueue(deps, request, { kind: dryRunKind, params }), request)
}

function enqueue(
  { db, clock }: RetentionDeps,
  { caller }: RunRequest,
  { kind, params }: Pick<Job, 'kind' | 'params'>,
): Promise<Job> {
  const { project_id } = caller
  const asked = { project_id, kind, params, exclusive_key: kind, clock }
  return enqueueJob(db, { ...asked, requested_by: requesterOf(caller) })
}

async function answerRun(
  db: RetentionDb,
  job: Job,
  { wait, signal }: RunRequest,
): Promise<RunAnswer> {
  const ask = () => readJob(db, job)
  const shown = wait ? await poll(ask, hasEnded, { wait_ms_max, signal }) : job
  const location = `/api/v2/observability/retention/runs/${job.id}`
  return new Answer(shownRun(shown), { status: 202, headers: { location } })
}

function hasEnded({ state }: Job): boolean {
  return state === 'succeeded' || state === 'failed'
}
