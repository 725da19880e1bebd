import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { latestRun, type Run, type TraceKey } from '../../runs/store.ts'
import { findTrace, isStale } from '../../runs/trace-target.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { runFields, toCounts, toRunResult } from '../run-reply.ts'
import { messageOf, resultUrl, startedStatuses, statusOf } from '../start-verification.ts'

const statuses = ['not_verified', ...startedStatuses] as const

/** Status of a trace in replies. */
export const statusSchema = z.enum(statuses).meta({ id: 'VerificationStatus' })

const { trigger, requested_by, created_at, ...otherFields } = runFields

const traceSchema = record('TraceVerification', {
  trace_id: z.guid(),
  task_id: z.string().nullable(),
  status: statusSchema,
  message: z.string(),
  ...otherFields,
  run_id: z.uuid().nullable().describe('Id of the newest run of the trace; null without one.'),
  trigger: trigger.nullable(),
  requested_by: requested_by.nullable(),
  created_at: created_at.nullable(),
  stale: z.boolean().describe('Whether the trace has another answer since the run.'),
})

/**
 * GET /api/v1/verification/traces/{trace_id}: the result of the newest run of a trace. A cancelled
 * run counts as no run.
 */
export function getTraceVerification(deps: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/traces/{trace_id}',
    id: 'getTraceVerification',
    summary: 'Verification of a trace: status, trust score, counts',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    reply: traceSchema,
    errors: ['trace_not_found', 'store_unavailable'],
    handle: async ({ params: { trace_id }, caller: { project_id }, signal }) => {
      const run = await newestRun(deps, { project_id, trace_id })
      if ('run' in run) return toReply(run.run, await isStale(deps, run.run, signal))
      return notVerified(trace_id, run.task_id)
    },
  })
}

/**
 * Returns the newest run of a trace that was not cancelled, else the task of the trace. Throws
 * `trace_not_found`.
 */
export async function newestRun(
  deps: VerificationRoutesDeps,
  trace: TraceKey,
): Promise<{ run: Run } | { task_id: string | null }> {
  const run = await latestRun(deps.db, trace)
  return run === undefined ? findTrace(deps, trace) : { run }
}

function toReply(run: Run, stale: boolean): z.input<typeof traceSchema> {
  const { trace_id, task_id, id: run_id } = run
  const about = { trace_id, task_id, run_id, stale }
  return { ...about, status: statusOf(run), message: messageOf(run), ...toRunResult(run) }
}

function notVerified(trace_id: string, task_id: string | null): z.input<typeof traceSchema> {
  return {
    trace_id,
    task_id,
    status: 'not_verified',
    message: `The trace is not verified. Start with POST ${resultUrl(trace_id)}/verify.`,
    trust_score: null,
    interval: null,
    coverage: null,
    calibrated: {},
    caps: [],
    formula_version: null,
    counts: toCounts({}),
    claims_total: 0,
    values_checked: 0,
    values_not_checked: null,
    verifiers: [],
    answer: null,
    context: null,
    run_id: null,
    trigger: null,
    requested_by: null,
    cost_usd: '0',
    created_at: null,
    started_at: null,
    ended_at: null,
    error: null,
    stale: false,
  }
}
