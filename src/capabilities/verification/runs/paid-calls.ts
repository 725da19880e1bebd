import { hash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Clock } from '../../../kernel/time.ts'
import { PaidCallFailed, type PaidReply } from '../../../platform/models/index.ts'
import { OutboundFailed } from '../../../platform/outbound/index.ts'
import { sql, storableJson } from '../../../platform/relational/index.ts'
import type { PaidCall, PaidCalls, RunsDb } from '../contract.ts'
import type { StoredCall } from './claims-store.ts'
import type { Run } from './store.ts'

type Outcome = Awaited<ReturnType<PaidCalls>>

/** The database, and the maximum booked cost of a project on a day (UTC). */
export type PaidCallsDeps = { db: RunsDb; clock: Clock; nano_dollars_per_day_max: bigint }

/**
 * Opens the priced calls of a run. A call is booked and recorded as `sent` in one transaction, then
 * sent, then its reply is recorded and the difference to the actual cost refunded. A run that is
 * repeated after a crash finds the reply. After a crash between the sending and the record,
 * the call is `sent`: it is sent again, but not booked again, so a budget never counts it twice,
 * although the server may. Calls of one key share one sending.
 */
export function openPaidCalls(deps: PaidCallsDeps, run: Pick<Run, 'id' | 'project_id'>): PaidCalls {
  const going = new Map<string, Promise<Outcome>>()
  return (call, signal) => {
    const known = going.get(call.key)
    if (known !== undefined) return known
    const made = callOnce(deps, run, { call, signal })
    going.set(call.key, made)
    return made
  }
}

/**
 * Opens the budget for priced calls outside of runs. Resolves to false when an amount would exceed
 * the project's budget of the day (UTC); nothing is booked then.
 */
export function openSpend({ db, clock, nano_dollars_per_day_max: limit }: PaidCallsDeps) {
  return async (project_id: string, nano_dollars: bigint): Promise<boolean> => {
    const created_at = new Date(clock.now_ms()).toISOString()
    return nano_dollars <= limit && addSpend(db, { project_id, created_at, nano_dollars, limit })
  }
}

type Sending = { call: PaidCall; signal: AbortSignal }

async function callOnce(
  deps: PaidCallsDeps,
  run: Pick<Run, 'id' | 'project_id'>,
  { call, signal }: Sending,
): Promise<Outcome> {
  signal.throwIfAborted()
  const booked = await book(deps, run, call)
  if (booked === undefined) {
    return { outcome: 'over_budget', reason: 'The budget of the project for this day is spent.' }
  }
  if (booked.outcome !== 'sent') return toOutcome(booked)
  const started_ms = deps.clock.now_ms()
  const end = await send(call, signal)
  return toOutcome(await record(deps, booked, { ...end, started_ms }))
}

/**
 * Records a call as sent and books its maximum cost; undefined when the budget does not allow it.
 * Returns the row of an earlier attempt unchanged.
 */
function book(
  { db, clock, nano_dollars_per_day_max }: PaidCallsDeps,
  run: Pick<Run, 'id' | 'project_id'>,
  { key: question, verifier, model, nano_dollars_max }: PaidCall,
): Promise<StoredCall | undefined> {
  const { id: run_id, project_id } = run
  // A key may have words of the answer, which are deleted with it.
  const key = hash('sha256', question)
  return db.transaction().execute(async (trx) => {
    const created_at = new Date(clock.now_ms())
    const inserted = await trx
      .insertInto('verification_calls')
      .values({
        id: newId(),
        run_id,
        project_id,
        key,
        verifier,
        model,
        created_at,
        outcome: 'sent',
        nano_dollars: sql`${nano_dollars_max.toString()}::bigint`,
      })
      .onConflict((conflict) => conflict.columns(['run_id', 'key']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (inserted === undefined) {
      const calls = trx.selectFrom('verification_calls').selectAll()
      return calls.where('run_id', '=', run_id).where('key', '=', key).executeTakeFirstOrThrow()
    }
    const limit = nano_dollars_per_day_max
    const added = { project_id, created_at: inserted.created_at, nano_dollars: nano_dollars_max }
    if (nano_dollars_max > limit || !(await addSpend(trx, { ...added, limit }))) {
      await trx.deleteFrom('verification_calls').where('id', '=', inserted.id).execute()
      return undefined
    }
    return inserted
  })
}

/** Adds to the spend of the day of an instant; false when it would exceed the limit. */
async function addSpend(
  trx: RunsDb,
  spend: { project_id: string; created_at: string; nano_dollars: bigint; limit?: bigint },
): Promise<boolean> {
  const { project_id, created_at, nano_dollars, limit } = spend
  const allowed = limit === undefined ? null : limit.toString()
  const { rows } = await sql`
    insert into verification_spend as spend (project_id, day, nano_dollars)
    values (${project_id}, (${created_at}::timestamptz at time zone 'UTC')::date,
      ${nano_dollars.toString()}::bigint)
    on conflict (project_id, day) do update
      set nano_dollars = spend.nano_dollars + excluded.nano_dollars
      where ${allowed}::bigint is null
        or spend.nano_dollars + excluded.nano_dollars <= ${allowed}::bigint
    returning 1`.execute(trx)
  return rows.length > 0
}

type SendEnd = { reply: PaidReply } | { reason: string; nano_dollars: bigint | undefined }

/** Sends a call. Rejects when the run was aborted: the call stays `sent` then. */
async function send(call: PaidCall, signal: AbortSignal): Promise<SendEnd> {
  try {
    return { reply: await call.send(signal) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PaidCallFailed) {
      return { reason: error.message, nano_dollars: error.nano_dollars }
    }
    if (error instanceof OutboundFailed) {
      return { reason: error.shown, nano_dollars: error.reached ? undefined : 0n }
    }
    return { reason: 'The call failed.', nano_dollars: undefined }
  }
}

/**
 * Records the end of a call and corrects the booked cost. When another attempt recorded an end
 * before, that one counts.
 */
function record(
  { db, clock }: PaidCallsDeps,
  booked: StoredCall,
  end: SendEnd & { started_ms: number },
): Promise<StoredCall> {
  const reply = 'reply' in end ? end.reply : undefined
  const max = BigInt(booked.nano_dollars)
  const cost = ('reply' in end ? end.reply.nano_dollars : end.nano_dollars) ?? max
  const shown = reply?.reply ?? { reason: 'reason' in end ? end.reason : '' }
  return db.transaction().execute(async (trx) => {
    const recorded = await trx
      .updateTable('verification_calls')
      .set({
        outcome: reply === undefined ? 'failed' : 'answered',
        reply: storableJson(shown),
        input_tokens: reply?.input_tokens ?? null,
        output_tokens: reply?.output_tokens ?? null,
        nano_dollars: sql`${cost.toString()}::bigint`,
        duration_ms: Math.max(0, Math.round(clock.now_ms() - end.started_ms)),
      })
      .where('id', '=', booked.id)
      .where('outcome', '=', 'sent')
      .returningAll()
      .executeTakeFirst()
    if (recorded === undefined) {
      const calls = trx.selectFrom('verification_calls').selectAll()
      return calls.where('id', '=', booked.id).executeTakeFirstOrThrow()
    }
    const { project_id, created_at } = booked
    if (cost !== max) await addSpend(trx, { project_id, created_at, nano_dollars: cost - max })
    return recorded
  })
}

function toOutcome({ outcome, reply }: StoredCall): Outcome {
  if (outcome === 'answered') return { outcome: 'answered', reply: reply ?? {} }
  return { outcome: 'failed', reason: String(reply?.['reason'] ?? 'The call failed.') }
}

/** Costs and tokens of a run's calls. */
export type CallTotals = { nano_dollars: bigint; tokens: number; calls: number }

/** Returns the totals of a run's calls by verifier. */
export async function totalCalls(db: RunsDb, run_id: string): Promise<Map<string, CallTotals>> {
  const { rows } = await sql<{
    verifier: string
    nano_dollars: string
    tokens: number
    calls: number
  }>`
    select verifier, sum(nano_dollars)::text as nano_dollars, count(*)::int as calls,
      sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))::float8 as tokens
    from verification_calls where run_id = ${run_id} group by verifier`.execute(db)
  return new Map(
    rows.map(({ verifier, nano_dollars, ...rest }) => [
      verifier,
      { ...rest, nano_dollars: BigInt(nano_dollars) },
    ]),
  )
}
