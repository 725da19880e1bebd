import { sql } from '../../../platform/relational/index.ts'
import type { VerifiedAnswer } from '../../detection/index.ts'
import type { RunsDb, StoredResult, StoredValue } from '../contract.ts'
import { claimsOf, type Override, overridesOf, type StoredClaim } from './claims-store.ts'
import { latestVerified, type TraceKey } from './store.ts'
import type { VerifiedRun } from './write-run.ts'

/**
 * Returns what findings read of a trace's result; undefined without one. Locks its task until the
 * transaction ends, as the end of a run does, so that findings are of the newest result.
 */
export async function readVerifiedAnswer(
  trx: RunsDb,
  trace: TraceKey,
): Promise<VerifiedAnswer | undefined> {
  const { project_id } = trace
  const found = await latestVerified(trx, trace)
  if (found === undefined) return undefined
  await sql`
    select 1 from tasks where project_id = ${project_id} and task_id = ${found.task_id}
    for no key update`.execute(trx)
  const run = (await latestVerified(trx, trace)) ?? found
  const claims = await claimsOf(trx, { project_id, run_id: run.id }, { limit: claims_max })
  return toVerifiedAnswer({ run, claims }, await overridesOf(trx, trace))
}

/** Maximum claims read: more than a run can have. */
const claims_max = 1_000

/** Returns what findings read of a verified run, with the overrides of its trace. */
export function toVerifiedAnswer(
  { run, claims }: VerifiedRun,
  overrides: readonly Override[],
): VerifiedAnswer {
  const { project_id, task_id, id: run_id, trace_id, trace_start, ended_at, created_at } = run
  const byDigest = new Map(overrides.map((one) => [one.claim_digest, one.verdict]))
  return {
    project_id,
    task_id,
    run_id,
    trace_id,
    started_at: trace_start,
    observation_id: run.answer_observation_id ?? '',
    verified_at: ended_at ?? created_at,
    claims: claims.map((claim) => toVerifiedClaim(claim, byDigest.get(claim.digest) ?? null)),
  }
}

function toVerifiedClaim(claim: StoredClaim, override: Override['verdict'] | null) {
  const { digest, text, verdict, starts_at, ends_at } = claim
  return {
    digest,
    text,
    verdict,
    override,
    at: [starts_at, ends_at] as const,
    results: claim.results as unknown as readonly StoredResult[],
    values: claim.checked_values as unknown as readonly StoredValue[],
  }
}
