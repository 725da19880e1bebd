import type { StoredResult, VerifierName } from '../contract.ts'
import type { StoredClaim } from '../runs/claims-store.ts'
import { calibrate } from '../trust/calibration.ts'
import { type Calibrations, computeTrust } from '../trust/fuse.ts'
import { type Verdict, verdicts } from '../verdicts/verdict.ts'
import { effectiveVerdict, type Overrides, resultsOf } from './claim-reply.ts'

/** A claim with the verdict of the verifiers. */
export type ClaimInEffect = Pick<
  StoredClaim,
  | 'id'
  | 'digest'
  | 'text'
  | 'position'
  | 'starts_at'
  | 'ends_at'
  | 'verdict'
  | 'probability'
  | 'results'
>

/**
 * Computes the trust score in which each verdict of a person replaces those of the verifiers, as a
 * result of full confidence and full weight. A person's verdict is not calibrated.
 */
export function scoreWithOverrides(
  claims: readonly ClaimInEffect[],
  overrides: Overrides,
  calibrations: Calibrations,
): number | null {
  const checked = claims.map((claim) => {
    const person = overrides.get(claim.digest)
    const results =
      person === undefined
        ? resultsOf(claim).map((result) => calibrated(result, calibrations))
        : [{ verifier: 'kb' as const, verdict: person.verdict, confidence: 1 }]
    return { id: claim.id, results }
  })
  return computeTrust(checked, {}).score
}

function calibrated(
  { verifier, verdict, confidence, method }: StoredResult,
  calibrations: Calibrations,
) {
  const calibration = calibrations[verifier]
  if (calibration === undefined) return { verifier, verdict, confidence, method }
  return { verifier, verdict, confidence: calibrate(calibration, confidence), method }
}

/** Counts the verdicts of each verifier. */
export function countByVerifier(
  claims: readonly ClaimInEffect[],
): Map<VerifierName, Record<Verdict, number>> {
  const byVerifier = new Map<VerifierName, Record<Verdict, number>>()
  for (const claim of claims) {
    for (const { verifier, verdict } of resultsOf(claim)) {
      const counts = byVerifier.get(verifier) ?? noVerdicts()
      counts[verdict] += 1
      byVerifier.set(verifier, counts)
    }
  }
  return byVerifier
}

function noVerdicts(): Record<Verdict, number> {
  return Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<Verdict, number>
}

/** Verdicts that need a review, worst first. */
const worstFirst: readonly Verdict[] = ['contradicted', 'not_found', 'unverifiable', 'likely']

/**
 * Returns the claims that most need a review: contradicted, then not found, unverifiable and likely,
 * each the least probable first. Claims that a person supports are left out.
 */
export function findWorstClaims(
  claims: readonly ClaimInEffect[],
  overrides: Overrides,
  limit: number,
): ClaimInEffect[] {
  const rankOf = (claim: ClaimInEffect) => worstFirst.indexOf(effectiveVerdict(claim, overrides))
  return claims
    .filter((claim) => rankOf(claim) >= 0)
    .toSorted(
      (one, other) =>
        rankOf(one) - rankOf(other) ||
        (one.probability ?? 1) - (other.probability ?? 1) ||
        one.position - other.position,
    )
    .slice(0, limit)
}

/** Returns the note of the result that gave the claim its verdict; else of the first result. */
export function noteOf(claim: Pick<ClaimInEffect, 'verdict' | 'results'>): string {
  const results = resultsOf(claim)
  const decisive = results.find(({ verdict }) => verdict === claim.verdict)
  return (decisive ?? results[0])?.note ?? ''
}
