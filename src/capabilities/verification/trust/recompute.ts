import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { printable } from '../../../kernel/printable.ts'
import { problem } from '../../../kernel/problem.ts'
import { verdicts } from '../verdicts/verdict.ts'
import { type CheckedClaim, computeTrust, type Trust, trustCaps, trustFormula } from './fuse.ts'

const share = z.number().min(0).max(1)

/** Verifiers of the trust formula. */
const verifier = z.enum(['kb', 'citation', 'web', 'multi_model'])

/** Format of exported runs. */
export const runExportFormat = 'looptrace-verification-run/1' as const

/** A calibration as a run keeps it. Steps are sorted by `from`. */
const usedCalibration = z.object({
  calibrated: z.boolean(),
  labels: z.int().nonnegative(),
  steps: z.array(z.object({ from: share, value: share })),
})

/** Calibrations of a run by verifier. Verifiers without one use the identity. */
export const usedCalibrations = z.partialRecord(verifier, usedCalibration)

/** A trust score with its caps. */
export const trustScore = z.object({
  trust_score: share.nullable(),
  interval: z.tuple([share, share]).nullable(),
  coverage: share,
  calibrated: z.record(z.string(), z.boolean()),
  caps: z.array(z.enum(trustCaps)),
})
type TrustScore = z.output<typeof trustScore>

/** The `trust` of a stored run; fields of the score apart from the score itself. */
export const storedTrust = trustScore.omit({ trust_score: true }).extend({
  formula: z.string(),
  calibrations: usedCalibrations.default({}),
})

/** A claim of a run with its results, and with the verdict that the formula gave it. */
export const scoredClaim = z.object({
  claim_id: z.string(),
  verdict: z.enum(verdicts),
  probability: share.nullable(),
  weight: share,
  // Whole results: the formula sorts them by all of their fields.
  results: z.array(z.looseObject({ verifier, verdict: z.enum(verdicts), confidence: share })),
})
type ScoredClaim = z.output<typeof scoredClaim>

/** A verified run: the input of its trust score, and the result. */
export type ScoredRun = {
  formula: string
  calibrations: z.output<typeof usedCalibrations>
  trust: TrustScore
  claims: readonly ScoredClaim[]
}

/** Verdict of the formula on a claim. */
type ClaimScore = Pick<ScoredClaim, 'verdict' | 'probability' | 'weight'>

/** A claim for which the stored and the recomputed verdict differ. */
type ClaimDifference = { claim_id: string; stored: ClaimScore; recomputed: ClaimScore }

/** A run's trust as stored and as computed again from its results. */
export type Recomputed = {
  formula_version: typeof trustFormula
  stored: TrustScore
  recomputed: TrustScore
  differences: ClaimDifference[]
  /** Whether all numbers of the run and of its claims are equal, bit for bit. */
  identical: boolean
}

/**
 * Computes the trust of a run again, from its results and the calibrations that it used. The order
 * of the claims has no influence. Throws `trust_formula_changed` for a run of another formula, and
 * `RangeError` for a claim that occurs twice.
 */
export function recomputeTrust(run: ScoredRun): Recomputed {
  refuseOtherFormula(run.formula)
  const checked: CheckedClaim[] = run.claims.map(({ claim_id: id, results }) => ({ id, results }))
  const trust = computeTrust(checked, run.calibrations)
  const recomputed = toTrustScore(trust)
  const differences = findDifferences(run.claims, trust)
  const isSame = canonicalJson(run.trust) === canonicalJson(recomputed)
  return {
    formula_version: trustFormula,
    stored: run.trust,
    recomputed,
    differences,
    identical: isSame && differences.length === 0,
  }
}

/** Throws `trust_formula_changed` unless this version computes the formula. */
export function refuseOtherFormula(formula: string): void {
  if (formula === trustFormula) return
  throw problem('trust_formula_changed', {
    detail: `The run was scored with ${printable(formula)}; this version computes ${trustFormula}. Verify the trace again, or use the version that scored it.`,
  })
}

function toTrustScore({ score, interval, coverage, calibrated, caps }: Trust): TrustScore {
  return {
    trust_score: score,
    interval: interval === null ? null : [...interval],
    coverage,
    calibrated,
    caps: [...caps],
  }
}

function findDifferences(claims: readonly ScoredClaim[], trust: Trust): ClaimDifference[] {
  const byId = new Map(trust.claims.map((claim) => [claim.id, toClaimScore(claim)]))
  return claims.flatMap((claim) => {
    const [stored, recomputed] = [toClaimScore(claim), byId.get(claim.claim_id)]
    if (recomputed === undefined || canonicalJson(stored) === canonicalJson(recomputed)) return []
    return [{ claim_id: claim.claim_id, stored, recomputed }]
  })
}

function toClaimScore({ verdict, probability, weight }: ClaimScore): ClaimScore {
  return { verdict, probability, weight }
}
