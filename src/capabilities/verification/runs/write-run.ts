import { dollarsFrom } from '../../../kernel/dollars.ts'
import { newId } from '../../../kernel/ids.ts'
import { sql, storableJson, storableText } from '../../../platform/relational/index.ts'
import type { Job } from '../../jobs/index.ts'
import type { RunsDb, StoredResult, VerifierName } from '../contract.ts'
import { calibrationsOf } from '../trust/calibration-store.ts'
import { computeTrust } from '../trust/fuse.ts'
import { type Verdict, verdicts } from '../verdicts/verdict.ts'
import { digestOfClaim, type RunClaim } from './check-values.ts'
import type { StoredClaim } from './claims-store.ts'
import type { RunFault } from './limits.ts'
import { totalCalls } from './paid-calls.ts'
import type { ReadAnswer } from './read-answer.ts'
import { type Run, refreshTasksTrust } from './store.ts'

/** The end of a verifier, as it is stored and shown. */
type VerifierRun = {
  name: VerifierName
  state: 'done' | 'skipped' | 'failed' | 'over_budget'
  reason: string | null
  /** Number of claims that the verifier checked. */
  claims: number
  cost_usd: string
  duration_ms: number
}

/** The result of a run before it is written. */
export type RunResult = {
  context: ReadAnswer
  /** Further gaps. */
  gaps: readonly string[]
  values_checked: number
  values_not_checked: number
  claims: readonly (RunClaim & { results: readonly StoredResult[] })[]
  verifiers: readonly Omit<VerifierRun, 'cost_usd'>[]
}

/** A verified run with its claims, as stored. */
export type VerifiedRun = { run: Run; claims: readonly StoredClaim[] }

/**
 * Called at the end of the transaction that writes a verified run. Returns what follows the commit.
 */
export type OnVerified = (trx: RunsDb, verified: VerifiedRun) => Promise<() => void>

/** The lease with which a worker writes a run. */
type RunLease = Pick<Job, 'id' | 'lease_owner'>

type Writing = { db: RunsDb; run: Run; lease: RunLease; ended_at: Date }

/**
 * Writes the result of a run, its claims and the trust of its task. Returns undefined and writes
 * nothing when the run has ended or was deleted, or when the lease was lost: a run ends once.
 */
export async function writeVerified(
  writing: Writing & { onVerified: OnVerified | undefined },
  result: RunResult,
): Promise<VerifiedRun | undefined> {
  const { db, run, onVerified } = writing
  let afterCommit: (() => void) | undefined
  const written = await db.transaction().execute(async (trx) => {
    if (!(await holdRun(trx, writing))) return undefined
    const calibrations = await calibrationsOf(trx, run.project_id)
    const claims = result.claims.map((claim, position) => toClaim(run, claim, position))
    const trust = computeTrust(
      result.claims.map(({ results }, at) => ({ id: claims[at]?.id ?? '', results })),
      calibrations,
    )
    const byId = new Map(trust.claims.map((one) => [one.id, one]))
    const fused = claims.map((claim) => {
      const { verdict = 'skipped', probability = null, weight = 0 } = byId.get(claim.id) ?? {}
      return { ...claim, verdict, probability, weight }
    })
    const stored = await insertClaims(trx, fused)
    const { claims: _claims, ...score } = trust
    const change = {
      trust_score: trust.score,
      trust: storableJson({ ...score, calibrations }),
      counts: JSON.stringify(countVerdicts(fused)),
    }
    const updated = await endRun(trx, writing, { state: 'verified', result, change })
    afterCommit = await onVerified?.(trx, { run: updated, claims: stored })
    return { run: updated, claims: stored }
  })
  afterCommit?.()
  return written
}

/**
 * Notes the sources of a run before it quotes them anywhere: retention and erasures use it to find
 * replies of models, also for a run that is in progress or was cancelled.
 */
export async function noteContext(db: RunsDb, run: Run, context: ReadAnswer): Promise<void> {
  await db
    .updateTable('verification_runs')
    .set({ context: toContext(context, []) })
    .where('id', '=', run.id)
    .where('state', '=', 'pending')
    .execute()
}

/** Ends a run as failed, as `writeVerified` ends it as verified. False when nothing was written. */
export function writeFailed(
  writing: Writing,
  fault: { code: RunFault; message: string },
  result?: RunResult,
): Promise<boolean> {
  return writing.db.transaction().execute(async (trx) => {
    if (!(await holdRun(trx, writing))) return false
    const change = { error: JSON.stringify(fault) }
    await endRun(trx, writing, { state: 'failed', result, change })
    return true
  })
}

/** Locks a pending run and its job's lease until the transaction ends; false when one is gone. */
async function holdRun(trx: RunsDb, { run, lease }: Writing): Promise<boolean> {
  // A cancellation locks in the same order.
  const pending = await sql`
    select 1 from verification_runs
    where id = ${run.id} and state = 'pending' and job_id = ${lease.id} for update`.execute(trx)
  if (pending.rows.length === 0) return false
  const held = await sql`
    select 1 from job_runs
    where id = ${lease.id} and lease_owner = ${lease.lease_owner} and state = 'running'
    for share`.execute(trx)
  return held.rows.length > 0
}

type RunEnd = {
  state: 'verified' | 'failed'
  result: RunResult | undefined
  change: { trust_score?: number | null; trust?: string; counts?: string; error?: string }
}

async function endRun(
  trx: RunsDb,
  { run, ended_at }: Writing,
  { state, result, change }: RunEnd,
): Promise<Run> {
  const totals = await totalCalls(trx, run.id)
  const sums = [...totals.values()]
  const cost = sums.reduce((sum, { nano_dollars }) => sum + nano_dollars, 0n)
  const updated = await trx
    .updateTable('verification_runs')
    .set({
      ...change,
      state,
      ended_at,
      ...(result && {
        ...toColumns(result),
        verifier_runs: JSON.stringify(
          result.verifiers.map((one) => ({
            ...one,
            cost_usd: dollarsFrom(totals.get(one.name)?.nano_dollars ?? 0n),
          })),
        ),
      }),
      cost_nano_dollars: sql`${cost.toString()}::bigint`,
      tokens: sums.reduce((sum, { tokens }) => sum + tokens, 0),
    })
    .where('id', '=', run.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const { project_id, task_id } = run
  if (task_id !== null) await refreshTasksTrust(trx, project_id, [task_id])
  return updated
}

function toColumns({ context, gaps, values_checked, values_not_checked, claims }: RunResult) {
  const { answer, answer_chars } = context
  return {
    answer_observation_id: answer.place.observation_id,
    answer_digest: answer.digest,
    answer_chars,
    context: toContext(context, gaps, values_not_checked),
    values_checked,
    claims: claims.length,
  }
}

function toContext(
  { seen, gaps, oldest_source }: ReadAnswer,
  more: readonly string[],
  values_not_checked?: number,
): string {
  return storableJson({
    sources: seen.length,
    chars: seen.reduce((sum, { text }) => sum + text.length, 0),
    gaps: [...gaps, ...more],
    // By these, an erasure and retention find the runs that quote a trace.
    traces: [...new Set(seen.map(({ place }) => place.trace_id))],
    oldest_source,
    values_not_checked,
  })
}

type NewClaim = Omit<StoredClaim, 'verdict' | 'probability' | 'weight'>

function toClaim(run: Run, claim: RunResult['claims'][number], position: number): NewClaim {
  const { text, at, kind, values, results } = claim
  return {
    id: newId(),
    run_id: run.id,
    project_id: run.project_id,
    trace_id: run.trace_id,
    position,
    text: storableText(text),
    starts_at: at[0],
    ends_at: at[1],
    kind,
    digest: digestOfClaim(text),
    results,
    checked_values: values,
  }
}

/** Rows of one statement; each has 15 parameters. */
const rows_max = 1_000

async function insertClaims(trx: RunsDb, claims: readonly StoredClaim[]): Promise<StoredClaim[]> {
  const stored: StoredClaim[] = []
  for (let at = 0; at < claims.length; at += rows_max) {
    const rows = claims.slice(at, at + rows_max).map((claim) => ({
      ...claim,
      results: storableJson(claim.results),
      checked_values: storableJson(claim.checked_values),
    }))
    const query = trx.insertInto('verification_claims').values(rows).returningAll()
    stored.push(...(await query.execute()))
  }
  return stored.sort((one, other) => one.position - other.position)
}

function countVerdicts(claims: readonly { verdict: string }[]): Record<Verdict, number> {
  const counts = verdicts.map((verdict) => [
    verdict,
    claims.filter((claim) => claim.verdict === verdict).length,
  ])
  return Object.fromEntries(counts) as Record<Verdict, number>
}
