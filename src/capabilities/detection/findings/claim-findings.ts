import type { FindingDraft, Severity } from '../contract.ts'
import { cutText, noWaste, placeKey } from '../facts/index.ts'
import type { DetectionDb, FindingsPorts } from '../ports.ts'
import { verificationDetector } from '../settings/detector-settings.ts'
import type { Finding } from './finding.ts'
import { findingsOf, putFindings, withdrawFindings } from './findings-store.ts'
import { type NewFinding, toNewFindings } from './new-findings.ts'
import { lockTask, markKnownDue } from './tasks-store.ts'
import { compareFindings, toStoredFindings } from './write-result.ts'

/** A claim of a verified answer, with the verdict of the machine and of a person. */
export type VerifiedClaim = {
  /** SHA-256 of the normalised text: identifies the claim in all runs of the trace. */
  digest: string
  text: string
  /** UTF-16 offsets in the answer. */
  at: readonly [start: number, end: number]
  verdict: string
  results: readonly {
    verifier: string
    verdict: string
    confidence: number
    method: string
    note: string
    evidence: readonly { source: string; quote: string }[]
  }[]
  values: readonly {
    value: string
    kind: string
    at: readonly [start: number, end: number]
    verdict: string
    /** Why a value without a source may be right; null or absent without a doubt. */
    reason?: string | null
  }[]
  /** Verdict of a person; null without an override. */
  override: 'supported' | 'contradicted' | null
}

/** The result of a verification, as far as findings depend on it. */
export type VerifiedAnswer = {
  project_id: string
  /** Findings belong to tasks, so an answer without a task has no findings. */
  task_id: string | null
  run_id: string
  trace_id: string
  /** The observation with the answer. */
  observation_id: string
  /** Start of that observation, or of the trace; ISO 8601. */
  started_at: string
  /** Time of the verification, ISO 8601. */
  verified_at: string
  claims: readonly VerifiedClaim[]
}

/**
 * Writes the findings of a verification. Call it as the last statement of a transaction, because
 * event rules lock incidents, and the returned function after the commit.
 */
export type WriteClaimFindings = (trx: DetectionDb, answer: VerifiedAnswer) => Promise<() => void>

/**
 * Opens the writer of findings of verifications. The findings of a trace are replaced; analyses of
 * the task keep them. The task becomes due, which updates its verdict.
 */
export function openClaimFindings({
  onFindings,
}: Pick<FindingsPorts, 'onFindings'>): WriteClaimFindings {
  return async (trx, answer) => {
    const { project_id, task_id, trace_id, verified_at: at } = answer
    if (task_id === null) return ignore
    const key = { project_id, task_id }
    if (!(await lockTask(trx, key))) return ignore
    const stored = (await findingsOf(trx, key)).filter(isOfTrace(trace_id))
    const { put, withdrawn } = compareFindings({
      stored,
      found: toClaimFindings({ ...answer, task_id }),
      wasAnalysed: () => true,
      isThere: () => true,
    })
    if (put.length + withdrawn.length === 0) return ignore
    await putFindings(trx, put, at)
    await withdrawFindings(trx, key, { ids: withdrawn, at })
    await markKnownDue(trx, [key])
    return (await onFindings?.(trx, toStoredFindings(key, put, stored))) ?? ignore
  }
}

const ignore = (): void => undefined

function isOfTrace(trace_id: string) {
  return ({ detector, trace_ids }: Finding) =>
    detector === verificationDetector.name && trace_ids.includes(trace_id)
}

/** Maximum findings of one answer; the first ones are kept. */
const claims_max = 100

/** Returns the findings of a verified answer, in the order of its claims. */
export function toClaimFindings(answer: VerifiedAnswer & { task_id: string }): NewFinding[] {
  const { project_id, task_id, started_at } = answer
  const drafts = answer.claims.flatMap((claim) => toDraft(answer, claim)).slice(0, claims_max)
  const run = { project_id, task_id, calls: [], steps: [], tools: [] }
  const findings = toNewFindings(run, drafts, () => verificationDetector)
  return findings.map((finding) => ({ ...finding, started_at }))
}

type Fault = { type: 'contradicted_claim' | 'unsupported_claim'; severity: Severity; why: string }

function toDraft(answer: VerifiedAnswer, claim: VerifiedClaim): FindingDraft[] {
  const fault = findFault(claim)
  if (fault === undefined) return []
  const { trace_id, observation_id, run_id } = answer
  const place = { trace_id, observation_id }
  const agreeing = claim.results.filter(({ verdict }) => verdict === claim.verdict)
  return [
    {
      kind: 'claim',
      type: fault.type,
      severity: fault.severity,
      anchor: `${placeKey(place)}:${claim.digest}`,
      summary: `The claim “${cutText(claim.text, claim_chars_max)}” ${fault.why}.`,
      start_step: null,
      end_step: null,
      period: null,
      repeats: null,
      places: [place],
      ...noWaste,
      recovered: false,
      confidence: agreeing.reduce((most, { confidence }) => Math.max(most, confidence), 0.5),
      evidence: {
        claim: cutText(claim.text),
        claim_digest: claim.digest,
        at: claim.at,
        run_id,
        override: claim.override,
        values: claim.values.filter(isUnsupported).slice(0, values_max),
        results: agreeing.map(({ verifier, method, note, evidence }) => ({
          verifier,
          method,
          note,
          quotes: evidence
            .slice(0, quotes_max)
            .map(({ source, quote }) => ({ source: cutText(source), quote: cutText(quote) })),
        })),
      },
    },
  ]
}

const claim_chars_max = 200
const values_max = 20
const quotes_max = 3

/**
 * Returns what is wrong with a claim. A claim that no verifier finds is a finding only if it has a
 * value that the agent did not see, or if two verifiers did not find its values.
 */
function findFault(claim: VerifiedClaim): Fault | undefined {
  const { verdict, override, results, values } = claim
  if (override === 'supported') return undefined
  if (override === 'contradicted')
    return { type: 'contradicted_claim', severity: 'high', why: 'was marked as wrong by a person' }
  if (verdict === 'contradicted')
    return { type: 'contradicted_claim', severity: 'high', why: 'is contradicted by its sources' }
  if (verdict !== 'not_found') return undefined
  const unsupported = values.filter(isUnsupported)
  const isByProvenance = results.some(
    (result) => result.verdict === 'not_found' && result.method === 'provenance',
  )
  if (isByProvenance && unsupported.length > 0) {
    const severity = unsupported.some(({ kind }) => strong.has(kind)) ? 'high' : 'medium'
    const why = `has “${cutText(unsupported[0]?.value ?? '', value_chars_max)}”, not found in what the agent saw`
    return { type: 'unsupported_claim', severity, why }
  }
  const decided = results.filter((result) => result.verdict !== 'skipped')
  const isNowhere = decided.every((result) => result.verdict === 'not_found')
  if (decided.length < 2 || !isNowhere || values.length === 0) return undefined
  return { type: 'unsupported_claim', severity: 'low', why: 'was found by no verifier' }
}

const value_chars_max = 80
const strong: ReadonlySet<string> = new Set(['money', 'id', 'url', 'email', 'quote'])

function isUnsupported({ verdict, reason }: VerifiedClaim['values'][number]): boolean {
  return verdict === 'other_subject' || (verdict === 'unsupported' && (reason ?? null) === null)
}
