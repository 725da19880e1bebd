import type { Verdict } from '../verdicts/verdict.ts'
import { type Calibration, calibrate } from './calibration.ts'

/** Changes whenever the same verdicts would give another score. */
export const trustFormula = 'trust-1'

/** Weight of the evidence of each verifier. */
export const verifierWeights = { kb: 1, citation: 0.9, web: 0.8, multi_model: 0.6 } as const
export type VerifierName = keyof typeof verifierWeights

/** The verdict of one verifier on one claim. */
export interface VerifierResult {
  readonly verifier: VerifierName
  readonly verdict: Verdict
  /** Probability that the verdict is right, 0–1, as the verifier states it. */
  readonly confidence: number
  /** How it was found, if known; `provenance` with `not_found` is a value that was not seen. */
  readonly method?: unknown
}

export interface CheckedClaim {
  readonly id: string
  readonly results: readonly VerifierResult[]
}

interface ClaimTrust {
  readonly id: string
  readonly verdict: Verdict
  /** Probability that the claim is true; null when no verifier decided it. */
  readonly probability: number | null
  /** Sum of the weighted log-odds of its results, which gives the probability; null with it. */
  readonly log_odds: number | null
  /** Weight of the claim in the score; 0 when no verifier decided it. */
  readonly weight: number
}

/** Limits of a score: a strong contradiction, a value that was not seen, few decided claims. */
export const trustCaps = ['contradiction', 'not_found', 'coverage'] as const
type TrustCap = (typeof trustCaps)[number]

export interface Trust {
  /** 0–1; null without a claim that a verifier decided. */
  readonly score: number | null
  /** Range of the score with 95 % confidence; null with the score. */
  readonly interval: readonly [low: number, high: number] | null
  /** Share of the claims that a verifier decided; 0 without claims. */
  readonly coverage: number
  readonly claims: readonly ClaimTrust[]
  /** Verifiers whose confidence is calibrated by labels. */
  readonly calibrated: Readonly<Record<string, boolean>>
  readonly caps: readonly TrustCap[]
  readonly formula: typeof trustFormula
}

export type Calibrations = Readonly<Partial<Record<VerifierName, Calibration>>>

/** Limits of a probability before its log-odds are taken. */
const probability_min = 0.01
/** Highest score with each cap; the lowest of several counts. */
const limits: Readonly<Record<TrustCap, number>> = {
  contradiction: 0.4,
  not_found: 0.7,
  coverage: 0.7,
}
const coverage_min = 0.5
/** A claim is strongly contradicted from this probability of being false. */
const minStrongContradiction = 0.8

/**
 * Computes the trust in an answer from the verdicts on its claims. The order of the claims and of
 * their results has no influence: both are put into a canonical order first.
 */
export function computeTrust(claims: readonly CheckedClaim[], calibrations: Calibrations): Trust {
  const sorted = claims.toSorted((one, other) => compareText(one.id, other.id))
  refuseTwins(sorted)
  const fused = sorted.map((claim) => fuseClaim(claim, calibrations))
  const decided = fused.filter(({ weight }) => weight > 0)
  const coverage = claims.length === 0 ? 0 : round(decided.length / claims.length)
  const caps = findCaps(sorted, fused, coverage)
  return {
    ...scoreClaims(decided, caps),
    coverage,
    claims: fused,
    calibrated: findCalibrated(calibrations),
    caps,
    formula: trustFormula,
  }
}

function refuseTwins(sorted: readonly CheckedClaim[]): void {
  const twin = sorted.find(({ id }, at) => id === sorted[at + 1]?.id)
  if (twin !== undefined) throw new RangeError(`Claim ${twin.id} occurs twice. Pass each once.`)
}

function scoreClaims(
  decided: readonly ClaimTrust[],
  caps: Trust['caps'],
): Pick<Trust, 'score' | 'interval'> {
  let weights = 0
  let squares = 0
  let sum = 0
  for (const { weight, probability } of decided) {
    weights += weight
    squares += weight * weight
    sum += weight * (probability ?? 0)
  }
  if (weights === 0) return { score: null, interval: null }
  const cap = Math.min(1, ...caps.map((one) => limits[one]))
  const score = sum / weights
  const [low, high] = wilsonInterval(score, (weights * weights) / squares)
  const limit = (value: number) => round(Math.min(cap, value))
  return { score: limit(score), interval: [limit(low), limit(high)] }
}

/** Returns the 95 % interval of Wilson (1927) for a share of `count` observations. */
function wilsonInterval(share: number, count: number): readonly [number, number] {
  const z = 1.959964
  const centre = share + (z * z) / (2 * count)
  const spread = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count))
  const scale = 1 + (z * z) / count
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)]
}

function findCaps(
  checked: readonly CheckedClaim[],
  claims: readonly ClaimTrust[],
  coverage: number,
): Trust['caps'] {
  const isContradicted = claims.some(
    ({ probability }) => probability !== null && probability <= 1 - minStrongContradiction,
  )
  const hasUnseen = checked.some(
    ({ results }, at) =>
      claims[at]?.weight === 0 &&
      results.some(({ verdict, method }) => verdict === 'not_found' && method === 'provenance'),
  )
  const isThin = claims.length > 0 && coverage < coverage_min
  return [
    ...(isContradicted ? ['contradiction' as const] : []),
    ...(hasUnseen ? ['not_found' as const] : []),
    ...(isThin ? ['coverage' as const] : []),
  ]
}

/** Adds the weighted log-odds of a claim's results; results that decide nothing add nothing. */
function fuseClaim({ id, results }: CheckedClaim, calibrations: Calibrations): ClaimTrust {
  const byVerifier = new Map<VerifierName, { result: VerifierResult; logOdds: number }>()
  for (const result of results.toSorted(compareResults)) {
    const logOdds = logOddsOf(result, calibrations[result.verifier])
    if (logOdds === undefined) continue
    const other = byVerifier.get(result.verifier)
    // Of two results of one verifier the less favourable counts: a repeated check adds no trust.
    if (other === undefined || logOdds < other.logOdds) {
      byVerifier.set(result.verifier, { result, logOdds })
    }
  }
  let sum = 0
  let weight = 0
  for (const [verifier, { logOdds }] of byVerifier) {
    sum += verifierWeights[verifier] * logOdds
    weight = Math.max(weight, verifierWeights[verifier])
  }
  if (weight === 0) {
    return { id, verdict: undecidedVerdict(results), probability: null, log_odds: null, weight }
  }
  const probability = round(1 / (1 + Math.exp(-sum)))
  const isOpen = probability === 0.5
  const verdict = isOpen ? 'unverifiable' : probability > 0.5 ? 'supported' : 'contradicted'
  return { id, verdict, probability, log_odds: sum, weight }
}

/** Returns the log-odds that the claim is true; undefined for a result that decides nothing. */
function logOddsOf(result: VerifierResult, calibration?: Calibration): number | undefined {
  const { verifier, verdict, confidence } = result
  if (!(confidence >= 0 && confidence <= 1)) {
    throw new RangeError(`Confidence ${confidence} of ${verifier} is not between 0 and 1.`)
  }
  if (verdict !== 'supported' && verdict !== 'contradicted') return undefined
  const right = calibration === undefined ? confidence : calibrate(calibration, confidence)
  // A low confidence never makes a verdict evidence for its opposite.
  const probability = Math.min(1 - probability_min, Math.max(0.5, right))
  const logOdds = Math.log(probability / (1 - probability))
  return verdict === 'supported' ? logOdds : -logOdds
}

function undecidedVerdict(results: readonly VerifierResult[]): Verdict {
  const order = ['likely', 'unverifiable', 'not_found'] as const
  const has = (wanted: Verdict) => results.some(({ verdict }) => verdict === wanted)
  return order.find(has) ?? 'skipped'
}

function findCalibrated(calibrations: Calibrations): Record<string, boolean> {
  const names = Object.keys(verifierWeights) as VerifierName[]
  return Object.fromEntries(
    names.sort().map((name) => [name, calibrations[name]?.calibrated ?? false]),
  )
}

/** Compares only the fields of the score: evidence and notes may be stored in another form. */
function compareResults(one: VerifierResult, other: VerifierResult): number {
  return (
    compareText(one.verifier, other.verifier) ||
    compareText(one.verdict, other.verdict) ||
    one.confidence - other.confidence
  )
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** Rounds to 6 decimals, which a score is stored with. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
