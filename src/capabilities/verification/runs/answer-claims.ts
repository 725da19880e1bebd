import { sql } from '../../../platform/relational/index.ts'
import type { RunsDb } from '../contract.ts'
import type { Verdict } from '../verdicts/verdict.ts'

/** The verified answer of a trace, with its first claims. */
export type VerifiedClaims = {
  run_id: string
  trace_id: string
  observation_id: string
  /** SHA-256 of the answer, in hexadecimal. */
  answer_digest: string | null
  trust_score: number | null
  claims_total: number
  claims: {
    claim_id: string
    text: string
    /** UTF-16 offsets in the answer: start, end (exclusive). */
    at: [number, number]
    /** Verdict of a person, else of the verifiers. */
    verdict: Verdict
    probability: number | null
  }[]
}

/**
 * Returns the newest verified run of each trace that knows the observation of its answer, with up to
 * `claims_max` claims. At most some hundred traces.
 */
export async function readVerifiedClaims(
  db: RunsDb,
  asked: { project_id: string; trace_ids: readonly string[]; claims_max: number },
): Promise<VerifiedClaims[]> {
  const { project_id, claims_max } = asked
  const { rows: runs } = await sql<RunRow>`
    select distinct on (trace_id) id, trace_id, answer_observation_id, answer_digest, trust_score,
      claims
    from verification_runs
    where project_id = ${project_id} and trace_id = any(${[...asked.trace_ids]}::uuid[])
      and state = 'verified'
    order by trace_id, id desc`.execute(db)
  const known = runs.filter(({ answer_observation_id }) => answer_observation_id !== null)
  if (known.length === 0) return []
  const { rows: claims } = await sql<ClaimRow>`
    select claims.id, claims.run_id, claims.text, claims.starts_at, claims.ends_at,
      coalesce(overrides.verdict, claims.verdict) as verdict, claims.probability
    from verification_claims claims
    left join verification_overrides overrides
      on overrides.project_id = claims.project_id and overrides.trace_id = claims.trace_id
      and overrides.claim_digest = claims.digest
    where claims.project_id = ${project_id} and claims.run_id = any(${known.map(({ id }) => id)}::uuid[])
      and claims.position < ${claims_max}
    order by claims.run_id, claims.position`.execute(db)
  const byRun = Map.groupBy(claims, ({ run_id }) => run_id)
  return known.map((run) => toVerifiedClaims(run, byRun.get(run.id) ?? []))
}

type RunRow = {
  id: string
  trace_id: string
  answer_observation_id: string | null
  answer_digest: string | null
  trust_score: number | null
  claims: number
}

type ClaimRow = {
  id: string
  run_id: string
  text: string
  starts_at: number
  ends_at: number
  verdict: string
  probability: number | null
}

function toVerifiedClaims(run: RunRow, claims: readonly ClaimRow[]): VerifiedClaims {
  const { id: run_id, trace_id, answer_digest, trust_score, answer_observation_id } = run
  return {
    run_id,
    trace_id,
    answer_digest,
    trust_score,
    observation_id: answer_observation_id ?? '',
    claims_total: run.claims,
    claims: claims.map(({ id, text, starts_at, ends_at, verdict, probability }) => ({
      claim_id: id,
      text,
      probability,
      at: [starts_at, ends_at],
      verdict: verdict as Verdict,
    })),
  }
}
