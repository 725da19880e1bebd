import type { VerifiedAnswer } from '../../detection/index.ts'
import type { StoredResult, StoredValue } from '../contract.ts'
import type { Override, StoredClaim } from './claims-store.ts'
import type { VerifiedRun } from './write-run.ts'

/** Returns what findings read of a verified run, with the overrides of its trace. */
export function toVerifiedAnswer(
  { run, claims }: VerifiedRun,
  overrides: readonly Override[],
): VerifiedAnswer {
  const { project_id, task_id, id: run_id, trace_id, trace_start, ended_at, created_at } = run
  const byDigest = new Map(overrides.map((one) => [one.claim_digest, one.verdict]))
  return {
    ...{ project_id, task_id, run_id, trace_id, started_at: trace_start },
    observation_id: run.answer_observation_id ?? '',
    verified_at: ended_at ?? created_at,
    claims: claims.map((claim) => toVerifiedClaim(claim, byDigest.get(claim.digest) ?? null)),
  }
}

function toVerifiedClaim(claim: StoredClaim, override: Override['verdict'] | null) {
  const { digest, text, verdict, starts_at, ends_at } = claim
  return {
    ...{ digest, text, verdict, override },
    at: [starts_at, ends_at] as const,
    results: claim.results as unknown as readonly StoredResult[],
    values: claim.checked_values as unknown as readonly StoredValue[],
  }
}
