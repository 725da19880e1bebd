import { sql } from '../../../platform/relational/index.ts'
import type { DetectionDb, VerifiedClaim, WriteClaimFindings } from '../../detection/index.ts'
import type { StoredResult, StoredValue } from '../contract.ts'
import { claimsOf, type Override, overridesOf, type StoredClaim } from '../runs/claims-store.ts'
import { latestVerified, type RunsDb, type TraceKey } from '../runs/store.ts'
import type { OnVerified, VerifiedRun } from '../runs/write-run.ts'

/** Called at the end of a transaction that changes a person's verdict on a claim of a trace. */
export type OnOverride = (trx: RunsDb, trace: TraceKey) => Promise<() => void>

/** Writes the findings of each verified run with its task. */
export function reportVerified(write: WriteClaimFindings): OnVerified {
  return (trx, verified) => report(write, trx, verified)
}

/** Writes the findings of a trace's result again, with the verdicts of people as they are now. */
export function reportOverride(write: WriteClaimFindings): OnOverride {
  return async (trx, { project_id, trace_id }) => {
    const found = await latestVerified(trx, { project_id, trace_id })
    if (found === undefined) return () => undefined
    // The end of a run locks the task too. After it, the newest result is read.
    await sql`
      select 1 from tasks where project_id = ${project_id} and task_id = ${found.task_id}
      for no key update`.execute(trx)
    const run = (await latestVerified(trx, { project_id, trace_id })) ?? found
    const claims = await claimsOf(trx, { project_id, run_id: run.id }, { limit: claims_max })
    return report(write, trx, { run, claims })
  }
}

/** More than a run has. */
const claims_max = 1_000

async function report(
  write: WriteClaimFindings,
  trx: RunsDb,
  { run, claims }: VerifiedRun,
): Promise<() => void> {
  const { project_id, trace_id, task_id, answer_observation_id } = run
  if (task_id === null || answer_observation_id === null) return () => undefined
  const overrides = await overridesOf(trx, { project_id, trace_id })
  const byDigest = new Map(overrides.map((one) => [one.claim_digest, one.verdict]))
  // The tables of both capabilities are in one database.
  return write(trx as unknown as DetectionDb, {
    ...{ project_id, trace_id, task_id, run_id: run.id },
    observation_id: answer_observation_id,
    started_at: run.trace_start,
    verified_at: run.ended_at ?? run.created_at,
    claims: claims.map((claim) => toVerifiedClaim(claim, byDigest.get(claim.digest))),
  })
}

function toVerifiedClaim(
  { digest, text, starts_at, ends_at, verdict, results, checked_values }: StoredClaim,
  override: Override['verdict'] | undefined,
): VerifiedClaim {
  return {
    ...{ digest, text, verdict, override: override ?? null },
    at: [starts_at, ends_at],
    results: results as readonly StoredResult[],
    values: checked_values as readonly StoredValue[],
  }
}
