import { Problem } from '../../../kernel/problem.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import { isRelationalUnavailable } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../jobs/index.ts'
import type { Claim } from '../claims/extract-claims.ts'
import type {
  AnswerContext,
  Judge,
  PaidCalls,
  StoredResult,
  Verifier,
  VerifierName,
} from '../contract.ts'
import { checkClaims, type VerifierEnd } from './check-claims.ts'
import { countValues, joinValues, type RunClaim } from './check-values.ts'
import { RunRefused, runLimits } from './limits.ts'
import { openPaidCalls } from './paid-calls.ts'
import { type AnswerPorts, type ReadAnswer, readAnswer } from './read-answer.ts'
import type { RunMeters } from './run-meters.ts'
import { findRun, type Run, verificationJob } from './store.ts'
import { createValueReader, type ValueReader } from './value-reader.ts'
import {
  noteContext,
  type OnVerified,
  type RunResult,
  writeFailed,
  writeVerified,
} from './write-run.ts'

/** Finds the claims of an answer, sorted by start; rejects when a model fails. */
type ExtractClaims = (
  answer: AnswerContext,
  paid: PaidCalls,
  signal: AbortSignal,
) => Promise<readonly Claim[]>

/** Opens the judge for the answer of a run. */
type OpenJudge = (run: { answer: AnswerContext; paid: PaidCalls }) => Judge

/** Dependencies of a run. */
export type VerificationDeps = AnswerPorts & {
  clock: Clock
  logger: Logger
  meters: RunMeters
  verifiers: ReadonlyMap<VerifierName, Verifier>
  /** Maximum cost of a project's runs on a day. */
  nano_dollars_per_day_max: bigint
  /** Undefined without a model: claims are found by rules. */
  extractClaims?: ExtractClaims | undefined
  openJudge?: OpenJudge | undefined
  onVerified?: OnVerified | undefined
  /** Reads claims and values; a thread of the handler's own by default. */
  reader?: ValueReader
  /** Time limits, shorter in tests. */
  limits?: { run_ms: number; check_ms: number; cancel_poll_ms: number }
}

/** Maximum concurrent runs of a process. */
const runs_max = 4
/** Interval of the search for due runs, so that results follow requests within seconds. */
const poll_ms = 250
/** Attempts after which an unexpected error ends the run. Outages do not count. */
const attempts_max = 3

/** Returns the handler of verification jobs. */
export function verificationHandler(deps: VerificationDeps): JobHandler {
  const reader = deps.reader ?? createValueReader()
  return {
    kind: verificationJob,
    jobs_max: runs_max,
    poll_ms,
    run: (job, context) => doRun({ ...deps, reader }, job, context),
  }
}

type RunDeps = VerificationDeps & { reader: ValueReader }

/** Executes a pending run. Does nothing for a run that has ended, in any state. */
async function doRun(deps: RunDeps, job: Job, { signal }: JobContext): Promise<JobValue> {
  const { project_id, params } = job
  const run = await findRun(deps.db, { project_id, run_id: String(params['run_id']) })
  if (run === undefined || run.state !== 'pending') return { state: run?.state ?? 'deleted' }
  await noteStart(deps, run)
  const { run_ms } = deps.limits ?? runLimits
  const cancelled = new AbortController()
  const over = new AbortController()
  const timeOut = AbortSignal.timeout(run_ms)
  const watching = watchState(deps, run, { cancelled, over: over.signal })
  try {
    const stopping = AbortSignal.any([signal, cancelled.signal])
    const state = await verify({ ...deps, run, job, stopping, timeOut })
    return { state }
  } catch (error) {
    if (cancelled.signal.aborted) return { state: 'cancelled' }
    if (signal.aborted || isOutage(error)) throw error
    return { state: await fail(deps, { run, job }, error) }
  } finally {
    over.abort()
    await watching
  }
}

async function noteStart({ db, clock }: VerificationDeps, { id }: Run): Promise<void> {
  await db
    .updateTable('verification_runs')
    .set({ started_at: new Date(clock.now_ms()) })
    .where('id', '=', id)
    .where('started_at', 'is', null)
    .execute()
}

/** Aborts the run when it was cancelled or deleted. */
async function watchState(
  { db, limits }: VerificationDeps,
  { project_id, id: run_id }: Run,
  { cancelled, over }: { cancelled: AbortController; over: AbortSignal },
): Promise<void> {
  const { cancel_poll_ms } = limits ?? runLimits
  for (;;) {
    await sleep(cancel_poll_ms, over)
    if (over.aborted) return
    // An outage of the store does not abort the run.
    const run = await findRun(db, { project_id, run_id }).catch(() => 'unknown' as const)
    if (run === 'unknown' || run?.state === 'pending') continue
    cancelled.abort(new Error('the run was cancelled or deleted'))
    return
  }
}

type RunInProgress = RunDeps & {
  run: Run
  job: Job
  /** Aborts when the worker stops, the lease is lost or the run was cancelled. */
  stopping: AbortSignal
  /** Aborts at the end of the run's time. */
  timeOut: AbortSignal
}

async function verify(deps: RunInProgress): Promise<string> {
  const { run, job, stopping, timeOut, meters } = deps
  const signal = AbortSignal.any([stopping, timeOut])
  const context = await readAnswer(deps, run, signal)
  await noteContext(deps.db, run, context)
  const paid = openPaidCalls(deps, run)
  const overBudget = new Set<string>()
  const counted: PaidCalls = async (call, callSignal) => {
    const end = await paid(call, callSignal)
    if (end.outcome === 'over_budget') overBudget.add(call.verifier)
    return end
  }
  const { claims: byRules, values, gaps, left } = await deps.reader.read(context, signal)
  const found = await findClaims(deps, { context, byRules, paid: counted, signal })
  const claims = joinValues(found.claims, values)
  const ends = await runVerifiers(deps, { context, paid: counted, claims, signal })
  stopping.throwIfAborted()
  const outage = [...ends.values()].find(({ error }) => isOutage(error))
  if (outage !== undefined) throw outage.error
  const result = toResult({ context, claims, ends, overBudget })
  const whole = { ...result, gaps: [...found.gaps, ...gaps], ...countValues(values, left) }
  const writing = { db: deps.db, run, lease: job, ended_at: new Date(deps.clock.now_ms()) }
  const fault = findFault(whole, timeOut)
  if (fault !== undefined) {
    const isWritten = await writeFailed(writing, fault, whole)
    if (isWritten) meters.ended(run, 'failed', deps.clock.now_ms())
    return 'failed'
  }
  const written = await writeVerified({ ...writing, onVerified: deps.onVerified }, whole)
  if (written === undefined) return 'ended'
  meters.verified(written, deps.clock.now_ms())
  return 'verified'
}

type Found = Omit<RunParts, 'claims'> & { byRules: readonly Claim[] }

async function findClaims(
  { extractClaims: extract, logger, run }: RunInProgress,
  { context, byRules, paid, signal }: Found,
): Promise<{ claims: readonly Claim[]; gaps: string[] }> {
  const all =
    extract === undefined
      ? byRules
      : await extract(context, paid, signal).catch((error: unknown) => {
          signal.throwIfAborted()
          logger.warn({ err: error, run_id: run.id }, 'extracting claims by a model failed')
          return byRules
        })
  const claims = all.slice(0, runLimits.claims)
  const left = all.length - claims.length
  return {
    claims,
    gaps: left === 0 ? [] : [`${left} claims after the first ${claims.length} were not checked.`],
  }
}

type RunParts = {
  context: ReadAnswer
  paid: PaidCalls
  claims: readonly RunClaim[]
  signal: AbortSignal
}

/** Runs the requested verifiers side by side. */
async function runVerifiers(
  deps: RunInProgress,
  { context: answer, paid, claims, signal }: RunParts,
): Promise<Map<VerifierName, VerifierEnd>> {
  const { verifiers, run, openJudge, logger } = deps
  const judge = openJudge?.({ answer, paid })
  const context = { run_id: run.id, answer, paid, judge }
  const { check_ms } = deps.limits ?? runLimits
  const ends = run.verifiers.map(async ({ name, options }) => {
    const verifier = verifiers.get(name as VerifierName)
    if (verifier === undefined) return undefined
    const asked = { verifier, options, context, claims, signal, check_ms_max: check_ms }
    const end = await checkClaims(asked)
    if (end.error !== undefined && !signal.aborted) {
      logger.warn({ err: end.error, run_id: run.id, verifier: name }, 'a verifier failed')
    }
    return [verifier.name, end] as const
  })
  return new Map((await Promise.all(ends)).filter((end) => end !== undefined))
}

function toResult(read: {
  context: ReadAnswer
  claims: readonly RunClaim[]
  ends: ReadonlyMap<VerifierName, VerifierEnd>
  overBudget: ReadonlySet<string>
}): Pick<RunResult, 'context' | 'claims' | 'verifiers'> {
  const { context, claims, ends, overBudget } = read
  return {
    context,
    claims: claims.map((claim, at) => ({
      ...claim,
      results: [...ends.values()].flatMap(({ results }) => results[at] ?? []),
    })),
    verifiers: [...ends].map(([name, { state, reason, results, duration_ms }]) => {
      const isOver = state === 'done' && overBudget.has(name)
      return {
        name,
        state: isOver ? 'over_budget' : state,
        reason: isOver ? 'The budget of the project for this day is spent.' : reason,
        claims: results.filter(isChecked).length,
        duration_ms,
      }
    }),
  }
}

function isChecked(result: StoredResult | undefined): boolean {
  return result !== undefined && result.verdict !== 'skipped'
}

/** Returns why a run without a useful result failed: no verifier ended, and one failed. */
function findFault({ verifiers }: RunResult, timeOut: AbortSignal) {
  const states = verifiers.map(({ state }) => state)
  const isUseful = states.some((state) => state === 'done' || state === 'over_budget')
  if (isUseful || !states.includes('failed')) return undefined
  return timeOut.aborted
    ? { code: 'timed_out' as const, message: 'The run took too long. Verify the trace again.' }
    : {
        code: 'verifiers_failed' as const,
        message: 'All verifiers failed. Verify the trace again, or with other verifiers.',
      }
}

/** Ends a run that threw; an unexpected error is retried first. */
async function fail(
  { db, clock, meters, logger }: VerificationDeps,
  { run, job }: { run: Run; job: Job },
  error: unknown,
): Promise<string> {
  const fault = toFault(error)
  if (fault.code === 'internal') {
    logger.warn({ err: error, run_id: run.id }, 'a verification failed')
    if (job.attempt < attempts_max) throw error
  }
  const writing = { db, run, lease: job, ended_at: new Date(clock.now_ms()) }
  const isWritten = await writeFailed(writing, fault)
  if (isWritten) meters.ended(run, 'failed', clock.now_ms())
  return 'failed'
}

function toFault(error: unknown): { code: RunRefused['code']; message: string } {
  if (error instanceof RunRefused) return { code: error.code, message: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: 'timed_out', message: 'The run took too long. Verify the trace again.' }
  }
  return { code: 'internal', message: 'Internal error; the cause is in the log of the worker.' }
}

function isOutage(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'store_unavailable'
  return isRelationalUnavailable(error)
}
