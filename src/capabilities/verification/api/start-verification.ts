import { z } from 'zod'
import { poll } from '../../../kernel/poll.ts'
import type { ProjectSlots } from '../../../kernel/project-slots.ts'
import { record } from '../../../model/named-schemas.ts'
import { Answer, type Caller, requesterOf } from '../../../platform/http/index.ts'
import { findRun, latestRun, type Run, startRun, type TraceKey } from '../runs/store.ts'
import { findTrace } from '../runs/trace-target.ts'
import { verdicts } from '../verdicts/verdict.ts'
import { chooseVerifiers, type RequestedVerifier } from '../verifiers/choose-verifiers.ts'
import type { VerificationRoutesDeps } from './contract.ts'
import { notCheckedOf } from './run-reply.ts'
import type { verifyBody } from './verify-request.ts'

/** Statuses of a trace that has a run. */
export const startedStatuses = ['pending', 'verified', 'failed'] as const

/** Reply to the start of a verification. */
export const startReply = record('VerificationStart', {
  trace_id: z.guid(),
  status: z.enum(startedStatuses).meta({ id: 'StartedVerificationStatus' }),
  message: z.string(),
  trust_score: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Trust score, 0–1; null while pending.'),
  run_id: z.uuid(),
})

/** The reply when the verification has ended. */
export const endedReply = {
  status: 200,
  description: 'The verification has ended, or the trace was already verified.',
  reply: startReply,
} as const

/** Errors of the routes that start a verification. */
export const startErrors = [
  'trace_not_found',
  'verification_queue_full',
  'rate_limited',
  'overloaded',
  'store_unavailable',
] as const

/** A request to verify a trace. */
export type VerifyRequest = {
  trace: TraceKey
  body: z.output<typeof verifyBody>
  trigger: 'request' | 'task'
  caller: Pick<Caller, 'kind' | 'id'>
  signal: AbortSignal
}

/** Dependencies of the routes that start verifications; `waits` are the slots of both. */
export type StartDeps = VerificationRoutesDeps & { waits: ProjectSlots }

/**
 * Starts a verification of a trace, or returns its pending run, or its result unless
 * `force_reverify` is set. Waits in a slot for the end when `async_mode` is false. Throws
 * `invalid_request` and `startErrors`.
 */
export async function verifyTrace(deps: StartDeps, request: VerifyRequest) {
  const { trace, body, signal } = request
  const { start, result } = await prepareRun(deps, request)
  if (result !== undefined || body?.async_mode !== false) return toAnswer(result ?? (await start()))
  const { project_id } = trace
  const wait = async () => waitForEnd(deps, await start(), signal)
  return toAnswer(await deps.waits.take({ project_id, signal }, wait))
}

/**
 * Starts a verification of a trace in the background, or returns its pending run, or its result
 * unless `force_reverify` is set. Throws like `verifyTrace`.
 */
export async function startVerification(
  deps: VerificationRoutesDeps,
  request: VerifyRequest,
): Promise<Run> {
  const { start, result } = await prepareRun(deps, request)
  return result ?? start()
}

/** Returns the result that the trace has already, and the function that starts a run. */
async function prepareRun(deps: VerificationRoutesDeps, request: VerifyRequest) {
  const { force_reverify = false, verifiers = null } = request.body ?? {}
  const chosen = chooseVerifiers(deps.verifiers, verifiers)
  const newest = await latestRun(deps.db, request.trace)
  const start = async () =>
    newest?.state === 'pending' ? newest : startNewRun(deps, request, chosen)
  const isResult = newest?.state === 'verified' && !force_reverify
  return { start, result: isResult ? newest : undefined }
}

async function startNewRun(
  deps: VerificationRoutesDeps,
  { trace, trigger, caller }: VerifyRequest,
  verifiers: RequestedVerifier[],
): Promise<Run> {
  const found = await findTrace(deps, trace)
  const requested_by = requesterOf(caller)
  return (await startRun(deps, { ...found, trigger, verifiers, requested_by })).run
}

async function waitForEnd(
  { db, wait_ms_max }: VerificationRoutesDeps,
  run: Run,
  signal: AbortSignal,
): Promise<Run> {
  if (run.state !== 'pending') return run
  const key = { project_id: run.project_id, run_id: run.id }
  const ended = await poll(
    () => findRun(db, key),
    (found) => found?.state !== 'pending',
    { wait_ms_max, signal },
  )
  return ended ?? run
}

function toAnswer(run: Run): Answer<z.input<typeof startReply>> {
  const { trace_id, id: run_id } = run
  const status = statusOf(run)
  const message =
    status === 'pending'
      ? `Verification started in the background. Poll the result with GET ${resultUrl(trace_id)}.`
      : messageOf(run)
  const trust_score = status === 'verified' ? run.trust_score : null
  const body = { trace_id, status, message, trust_score, run_id }
  return new Answer(body, { status: status === 'pending' ? 202 : 200 })
}

/** Returns the status of a trace whose newest run is this one. */
export function statusOf({ state }: Pick<Run, 'state'>): (typeof startedStatuses)[number] {
  return state === 'cancelled' ? 'failed' : state
}

/** Returns the path of a trace's result. */
export function resultUrl(trace_id: string): string {
  return `/api/v1/verification/traces/${trace_id}`
}

/** Describes the state of a run in a sentence. */
export function messageOf(run: Run): string {
  switch (run.state) {
    case 'pending':
      return 'Verification is in progress.'
    case 'failed':
      return run.error?.message ?? 'Verification failed. Start it again.'
    case 'cancelled':
      return 'Verification was cancelled. Start it again.'
    case 'verified':
      return describeResult(run)
  }
}

function describeResult(run: Run): string {
  const { claims, counts, trust_score } = run
  if (claims === 0) return 'The answer has no claims to verify.'
  const found = verdicts.flatMap((verdict) => {
    const n = counts?.[verdict] ?? 0
    return n === 0 ? [] : [`${n} ${verdict.replace('_', ' ')}`]
  })
  const verified = `Verified ${claims} ${claims === 1 ? 'claim' : 'claims'}: ${found.join(', ')}.`
  const decided = trust_score === null ? `${verified} No verifier decided a claim.` : verified
  const unchecked = notCheckedOf(run) ?? 0
  if (unchecked === 0) return decided
  const verb = unchecked === 1 ? 'was' : 'were'
  return `${decided} ${unchecked} of ${run.values_checked + unchecked} values of the answer ${verb} not checked.`
}
