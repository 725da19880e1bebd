import {
  type Selectable,
  sql,
  type VerificationTables,
} from '../../../platform/relational/index.ts'
import type { RunsDb } from '../contract.ts'
import type { Verdict } from '../verdicts/verdict.ts'
import type { RunKey, TraceKey } from './store.ts'

/**
 * A stored claim of a run. `results` are `StoredResult`s and `checked_values` `StoredValue`s of
 * `contract.ts`.
 */
export type StoredClaim = Selectable<VerificationTables['verification_claims']>

/** A person's verdict on a claim of a trace. */
export type Override = Selectable<VerificationTables['verification_overrides']>

/** A priced call of a run. */
export type StoredCall = Selectable<VerificationTables['verification_calls']>

/** Claims of a run with a verdict of the machine, or of all. */
export type ClaimFilter = RunKey & { verdict?: Verdict | undefined }

/** Returns claims of a run in order of their positions. */
export function claimsOf(
  db: RunsDb,
  filter: ClaimFilter,
  /** `after`: only claims after this position. */
  { after = -1, limit }: { after?: number; limit: number },
): Promise<StoredClaim[]> {
  return filterClaims(db, filter)
    .selectAll()
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute()
}

/** Counts claims of a run. */
export async function countClaims(db: RunsDb, filter: ClaimFilter): Promise<number> {
  const counted = await filterClaims(db, filter)
    .select(({ fn }) => fn.countAll<number>().as('claims'))
    .executeTakeFirst()
  return Number(counted?.claims ?? 0)
}

function filterClaims(db: RunsDb, { project_id, run_id, verdict }: ClaimFilter) {
  return db
    .selectFrom('verification_claims')
    .where('project_id', '=', project_id)
    .where('run_id', '=', run_id)
    .$if(verdict !== undefined, (query) => query.where('verdict', '=', verdict ?? ''))
}

/** Returns a claim of a project; `claim_id` must be a UUID. */
export function findClaim(
  db: RunsDb,
  { project_id, claim_id }: { project_id: string; claim_id: string },
): Promise<StoredClaim | undefined> {
  return db
    .selectFrom('verification_claims')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', claim_id)
    .executeTakeFirst()
}

/** Returns the overrides of a trace's claims, found in any run by their digest. */
export function overridesOf(db: RunsDb, { project_id, trace_id }: TraceKey): Promise<Override[]> {
  return db
    .selectFrom('verification_overrides')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('trace_id', '=', trace_id)
    .execute()
}

/** A new override. The results of the claim are kept with it: they label calibrations. */
export type NewOverride = Pick<Override, 'verdict' | 'reason' | 'created_by' | 'trace_start'> & {
  claim: Pick<StoredClaim, 'id' | 'project_id' | 'run_id'>
  created_at: Date
}

/**
 * Stores a person's verdict on a claim, in a transaction. Replaces an earlier one. Returns
 * undefined when the claim was deleted meanwhile: its results quote content, so they are read after
 * retention and erasures in progress.
 */
export async function putOverride(
  trx: RunsDb,
  { claim: { id: claim_id, project_id, run_id }, ...override }: NewOverride,
): Promise<Override | undefined> {
  await sql`
    select 1 from verification_runs where id = ${run_id} and project_id = ${project_id}
    for share`.execute(trx)
  const claim = await findClaim(trx, { project_id, claim_id })
  if (claim === undefined) return undefined
  const machine = JSON.stringify(claim.results)
  const { trace_id, digest: claim_digest } = claim
  const { verdict, reason, created_at, created_by } = override
  return trx
    .insertInto('verification_overrides')
    .values({ ...override, project_id, trace_id, claim_digest, machine })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'trace_id', 'claim_digest'])
        .doUpdateSet({ verdict, reason, machine, created_at, created_by }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes the override of a claim; returns undefined when the claim has no override. */
export function deleteOverride(
  db: RunsDb,
  { project_id, trace_id, digest }: Pick<StoredClaim, 'project_id' | 'trace_id' | 'digest'>,
): Promise<Override | undefined> {
  return db
    .deleteFrom('verification_overrides')
    .where('project_id', '=', project_id)
    .where('trace_id', '=', trace_id)
    .where('claim_digest', '=', digest)
    .returningAll()
    .executeTakeFirst()
}

/** Returns the priced calls of a run in the order of their start. */
export function callsOf(
  db: RunsDb,
  { project_id, run_id }: RunKey,
  /** `after`: only calls after the one with this id. */
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<StoredCall[]> {
  return db
    .selectFrom('verification_calls')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('run_id', '=', run_id)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Counts the priced calls of a run up to `limit`. */
export async function countCalls(
  db: RunsDb,
  { project_id, run_id }: RunKey,
  limit: number,
): Promise<number> {
  const rows = await db
    .selectFrom('verification_calls')
    .select('id')
    .where('project_id', '=', project_id)
    .where('run_id', '=', run_id)
    .limit(limit)
    .execute()
  return rows.length
}

/** Returns the spent nano-dollars of a project on a day (UTC, `2026-11-23`). */
export async function spentOf(
  db: RunsDb,
  { project_id, day }: { project_id: string; day: string },
): Promise<bigint> {
  const { rows } = await sql<{ spent: string }>`
    select nano_dollars::text as spent from verification_spend
    where project_id = ${project_id} and day = ${day}::date`.execute(db)
  return BigInt(rows[0]?.spent ?? 0)
}
