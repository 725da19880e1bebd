import { problem } from '../../../kernel/problem.ts'
import type { RunsDb } from '../contract.ts'
import { claimsOf, type StoredClaim } from '../runs/claims-store.ts'
import type { Run } from '../runs/store.ts'
import { refuseOtherFormula, type ScoredRun, scoredClaim, storedTrust } from '../trust/recompute.ts'
import { requireRun } from './find-run.ts'

/**
 * Reads a verified run with all of its claims. Throws `verification_run_not_found`,
 * `verification_without_result`.
 */
export async function readVerifiedRun(
  db: RunsDb,
  key: { project_id: string; run_id: string },
): Promise<{ run: Run; claims: StoredClaim[] }> {
  const run = await requireRun(db, key)
  if (run.state !== 'verified') {
    throw problem('verification_without_result', {
      detail: `run_id: the run is ${run.state}, expected a verified run`,
    })
  }
  const claims = await claimsOf(db, key, { limit: Math.max(1, run.claims) })
  return { run, claims }
}

/** Returns what the trust of a run was computed from. Throws `trust_formula_changed`. */
export function toScoredRun(run: Run, claims: readonly StoredClaim[]): ScoredRun {
  // The stored fields depend on the formula.
  refuseOtherFormula(String(run.trust?.['formula']))
  const { formula, calibrations, ...trust } = storedTrust.parse(run.trust)
  return {
    formula,
    calibrations,
    trust: { ...trust, trust_score: run.trust_score },
    claims: claims.map(({ id: claim_id, ...claim }) => scoredClaim.parse({ ...claim, claim_id })),
  }
}
