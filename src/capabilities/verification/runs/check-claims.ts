import { Semaphore } from '../../../kernel/semaphore.ts'
import {
  type CheckClaim,
  type ClaimToCheck,
  quote_chars_max,
  type StoredResult,
  type Verifier,
  type VerifierContext,
} from '../contract.ts'
import { runLimits } from './limits.ts'

/** The end of a verifier in a run. */
export type VerifierEnd = {
  state: 'done' | 'skipped' | 'failed' | 'over_budget'
  /** Why it is not `done`, or which claims it skipped; null otherwise. */
  reason: string | null
  /** By claim; undefined for a claim that it did not check. */
  results: (StoredResult | undefined)[]
  duration_ms: number
  /** Error for the log. */
  error?: unknown
}

/** The claims of a run for one verifier. */
export type ClaimsToCheck = {
  verifier: Verifier
  /** Options as requested. */
  options: unknown
  context: VerifierContext
  claims: readonly ClaimToCheck[]
  /** Aborts at the end of the run's time. */
  signal: AbortSignal
  check_ms_max?: number
}

/**
 * Runs a verifier on the claims, some at a time. Never rejects. Does not wait for a verifier that
 * ignores its signal: the results so far are kept.
 */
export async function checkClaims(asked: ClaimsToCheck): Promise<VerifierEnd> {
  const started_ms = performance.now()
  const { verifier, claims } = asked
  const results: VerifierEnd['results'] = claims.map(() => undefined)
  const end = await runVerifier(asked, results).catch((error: unknown) => ({
    state: 'failed' as const,
    reason: asked.signal.aborted ? 'The run reached its time limit.' : 'The verifier failed.',
    error,
  }))
  const duration_ms = Math.round(performance.now() - started_ms)
  if (end.state === 'skipped') {
    const note = end.reason ?? ''
    const skipped = { verifier: verifier.name, ...skip(note) }
    return { ...end, results: results.map(() => skipped), duration_ms }
  }
  return { ...end, results, duration_ms }
}

async function runVerifier(
  asked: ClaimsToCheck,
  results: VerifierEnd['results'],
): Promise<Pick<VerifierEnd, 'state' | 'reason'>> {
  const { verifier, context, claims, signal } = asked
  const unavailable = verifier.unavailable()
  if (unavailable !== undefined) return { state: 'skipped', reason: unavailable }
  const options = verifier.options.parse(asked.options)
  const check = await abortable(verifier.open(context, options, signal), signal)
  const claims_max = verifier.cost === 'model' ? runLimits.model_claims : claims.length
  const permits = new Semaphore({ permits_max: runLimits.checks[verifier.cost] })
  const stopping = new AbortController()
  const both = AbortSignal.any([signal, stopping.signal])
  const checks = claims.slice(0, claims_max).map((claim, at) =>
    permits.run(async () => {
      both.throwIfAborted()
      results[at] = { verifier: verifier.name, ...(await checkOne(asked, check, claim, both)) }
    }, both),
  )
  try {
    await Promise.all(checks)
  } catch (error) {
    stopping.abort(error)
    throw error
  } finally {
    await Promise.allSettled(checks)
  }
  const rest = claims.length - claims_max
  if (rest <= 0) return { state: 'done', reason: null }
  const reason = `Checks the first ${claims_max} claims of an answer.`
  for (let at = claims_max; at < claims.length; at++) {
    results[at] = { verifier: verifier.name, ...skip(reason) }
  }
  return { state: 'done', reason }
}

async function checkOne(
  { check_ms_max = runLimits.check_ms }: ClaimsToCheck,
  check: CheckClaim,
  claim: ClaimToCheck,
  signal: AbortSignal,
): Promise<Omit<StoredResult, 'verifier'>> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), check_ms_max)
  const either = AbortSignal.any([signal, late.signal])
  try {
    return bound(await abortable(check(claim, either), either))
  } catch (error) {
    if (signal.aborted || !late.signal.aborted) throw error
    return skip(`The check took longer than ${check_ms_max / 1_000} s.`)
  } finally {
    clearTimeout(timer)
  }
}

/** Settles like the work, or rejects when the signal aborts. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, aborted.promise]).finally(() => {
    signal.removeEventListener('abort', abort)
    // A later result is ignored.
    work.catch(() => undefined)
  })
}

function skip(note: string): Omit<StoredResult, 'verifier'> {
  return { verdict: 'skipped', confidence: 0, method: 'none', evidence: [], note }
}

const evidence_max = 10
const note_chars_max = 500

/** Bounds the stored size of a result, parts of which models and pages write. */
function bound(result: Omit<StoredResult, 'verifier'>): Omit<StoredResult, 'verifier'> {
  const { confidence, evidence, note } = result
  return {
    ...result,
    confidence: Number.isFinite(confidence) ? Math.min(1, Math.max(0, confidence)) : 0,
    evidence: evidence
      .slice(0, evidence_max)
      .map((one) => ({ ...one, quote: one.quote.slice(0, quote_chars_max) })),
    note: note.slice(0, note_chars_max),
  }
}
