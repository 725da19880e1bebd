import { newId } from '../../../../kernel/ids.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { AfterAttempt } from '../../messages/delivery.ts'
import { isEnd } from '../../messages/message.ts'
import type { IncidentDb } from '../../ports.ts'
import { openIncidents } from '../../store/incident-book.ts'
import { coreOf } from '../../store/incident-row.ts'
import { deliveredOpening } from '../../store/moves.ts'
import type { Sent } from '../senders/contract.ts'
import type { Claim, ClaimedMessage } from './claim.ts'

/** The outcome of a claim. */
export type Settlement = {
  after: AfterAttempt
  /** Why it was not delivered; null for a delivery. */
  error: string | null
  /** The attempt that was made; undefined if the channel is not usable. */
  attempt: { sent: Sent; duration_ms: number } | undefined
  /** Time at the end of the attempt. */
  now_ms: number
}

/**
 * Writes the outcome of a claim in one transaction: the state of its messages, the delivery, what
 * follows for the channel, its fallback and the incidents. Returns the number of messages; 0 if
 * another process has claimed them since.
 */
export function settleClaim(db: IncidentDb, claim: Claim, settled: Settlement): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const held = await lockClaimed(trx, claim)
    const messages = claim.messages.filter(({ id }) => held.has(id))
    if (messages.length === 0) return 0
    const ours = { ...claim, messages }
    await writeDeliveries(trx, ours, settled)
    await writeStates(trx, ours, settled)
    const { kind } = settled.after
    if (kind === 'delivered') await writeThreads(trx, ours, settled)
    if (kind === 'dead') await useFallback(trx, ours, settled)
    if (kind !== 'retry') await wakeFollowers(trx, ours, settled)
    // The incidents are locked last, as `lockIncidents` requires.
    if (kind === 'delivered') await markDelivered(trx, messages)
    if (kind === 'dead') await recordDead(trx, ours, settled)
    return messages.length
  })
}

async function lockClaimed(trx: IncidentDb, { claim_id }: Claim): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('notification_outbox')
    .select('id')
    .where('claim', '=', claim_id)
    .where('state', '=', 'waiting')
    .forUpdate()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

async function writeDeliveries(trx: IncidentDb, claim: Claim, settled: Settlement): Promise<void> {
  const { attempt, error } = settled
  if (attempt === undefined) return
  const { result, response } = attempt.sent
  const rows = claim.messages.map((message) => ({
    id: newId(),
    outbox_id: message.id,
    project_id: claim.project_id,
    channel: claim.channel_name,
    attempt: message.attempt,
    started_at: new Date(claim.now_ms),
    duration_ms: attempt.duration_ms,
    status: 'status' in result ? result.status : null,
    error,
    response,
  }))
  await trx.insertInto('notification_deliveries').values(rows).execute()
}

async function writeStates(trx: IncidentDb, claim: Claim, settled: Settlement): Promise<void> {
  const { after, error, now_ms } = settled
  const free = { claim: null, claimed_until: null, last_error: error }
  const retry_at = new Date(now_ms + (after.kind === 'retry' ? after.delay_ms : 0))
  await trx
    .updateTable('notification_outbox')
    .set(
      after.kind === 'retry'
        ? { ...free, next_attempt_at: retry_at }
        : { ...free, state: after.kind, ended_at: new Date(now_ms) },
    )
    .where('claim', '=', claim.claim_id)
    .execute()
}

/** The next messages of the incidents need not wait for the one that has ended. */
async function wakeFollowers(
  trx: IncidentDb,
  { project_id, channel_name, messages }: Claim,
  { now_ms }: Settlement,
): Promise<void> {
  const ids = messages.map(({ incident_id }) => incident_id)
  await trx
    .updateTable('notification_outbox')
    .set({ next_attempt_at: new Date(now_ms) })
    .where('incident_id', 'in', ids)
    .where('project_id', '=', project_id)
    .where('channel', '=', channel_name)
    .where('state', '=', 'waiting')
    .where('attempts', '=', 0)
    .execute()
}

async function writeThreads(
  trx: IncidentDb,
  { project_id, channel_name: channel }: Claim,
  { attempt }: Settlement,
): Promise<void> {
  for (const [incident_id, thread] of attempt?.sent.threads ?? []) {
    await trx
      .insertInto('channel_threads')
      .values({ project_id, channel, incident_id, thread })
      .onConflict((conflict) =>
        conflict.columns(['incident_id', 'channel']).doUpdateSet({ thread }),
      )
      .execute()
  }
}

/** Marks incidents whose firing a channel announced: their end is announced even when muted. */
async function markDelivered(trx: IncidentDb, messages: readonly ClaimedMessage[]): Promise<void> {
  for (const { reason, incident_id, event_seq } of messages) {
    if (!isEnd(reason)) await deliveredOpening(trx, incident_id, event_seq)
  }
}

/** Gives messages to the fallback channel, with ids of their own, and disables an ended channel. */
async function useFallback(trx: IncidentDb, claim: Claim, settled: Settlement): Promise<void> {
  const { stored, project_id } = claim
  const now = new Date(settled.now_ms)
  if (stored !== undefined && settled.after.kind === 'dead' && settled.after.disables_channel) {
    await trx
      .updateTable('notification_channels')
      .set({
        disabled_at: now,
        updated_at: now,
        updated_by: 'service',
        disabled_reason: 'the receiver answered 410 Gone',
        version: sql<number>`version + 1`,
      })
      .where('id', '=', stored.id)
      .where('disabled_at', 'is', null)
      .execute()
  }
  const fallback = stored?.fallback
  if (fallback == null) return
  for (const id of await idsWithEnds(trx, claim)) {
    // An end tells the opening as well if the fallback has no message about it.
    await sql`
      insert into notification_outbox (id, project_id, incident_id, event_seq, channel, reason,
        rule_name, grouping, message, late, state, released, next_attempt_at, created_at)
      select ${newId()}, project_id, incident_id, event_seq, ${fallback},
        replace(reason, 'opened_and_resolved', 'resolved'), rule_name, grouping,
        jsonb_set(message, '{reason}', to_jsonb(replace(reason, 'opened_and_resolved', 'resolved'))),
        late, 'waiting', true, ${now}, ${now}
      from notification_outbox where id = ${id} and project_id = ${project_id}
      on conflict do nothing
    `.execute(trx)
  }
}

/** Returns the ids of messages, and of the ends that follow them: who learns the one learns the other. */
async function idsWithEnds(trx: IncidentDb, { project_id, messages }: Claim): Promise<string[]> {
  const ids = messages.map(({ id }) => id)
  const { rows } = await sql<{ id: string }>`
    select distinct row.id, row.event_seq from notification_outbox as dead
    join notification_outbox as row on row.incident_id = dead.incident_id
      and row.channel = dead.channel
      and (row.id = dead.id or (
        row.event_seq > dead.event_seq and row.state = 'waiting' and row.reason = 'resolved'
      ))
    where dead.project_id = ${project_id} and row.project_id = ${project_id}
      and dead.id = any(${ids}::uuid[])
    order by row.event_seq
  `.execute(trx)
  return rows.map(({ id }) => id)
}

/** Records in the timelines that messages were not delivered. */
async function recordDead(trx: IncidentDb, claim: Claim, settled: Settlement): Promise<void> {
  const { project_id, channel_name, stored } = claim
  const book = await openIncidents(trx, { project_id, now_ms: settled.now_ms })
  const next =
    stored?.fallback == null ? '' : ` The channel ${stored.fallback} receives it instead.`
  for (const message of claim.messages) {
    const before = await book.read(message.incident_id)
    if (before === undefined) continue
    const note = `The message "${message.reason}" was not delivered to the channel ${channel_name}: ${settled.error}.${next}`
    const latest = coreOf(book.latest(before))
    const given = isEnd(message.reason) ? [] : [stored?.fallback ?? []].flat()
    const announced_to = [...new Set([...latest.announced_to, ...given])]
    const incident = { ...latest, announced_to }
    const event = {
      ...({ type: 'undelivered', at_ms: settled.now_ms, note } as const),
      actor: { type: 'timer', id: 'notifications' } as const,
    }
    book.record({ before: book.latest(before), change: { incident, events: [event] } })
  }
  await book.save()
}
