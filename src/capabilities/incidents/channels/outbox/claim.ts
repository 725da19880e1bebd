import { newId } from '../../../../kernel/ids.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { Message, MessageReason } from '../../messages/message.ts'
import type { IncidentDb } from '../../ports.ts'
import { channelTable, openChannel, type StoredChannel } from '../channel-secrets.ts'
import type { OpenChannel } from '../senders/contract.ts'
import { takesSeveral } from '../senders/send.ts'
import { type ClaimPlan, planClaim } from './plan-claim.ts'
import { type ChannelName, readWaiting } from './waiting-rows.ts'

/** A message of a claim. */
export type ClaimedMessage = {
  id: string
  incident_id: string
  event_seq: number
  reason: MessageReason
  message: Message
  thread: string | null
  /** Number of the attempt, over all re-sends. */
  attempt: number
  /** Number of the attempt since the last re-send. */
  attempt_since_resend: number
}

/** Messages that this process may attempt to send, until the lease ends. */
export type Claim = ChannelName & {
  claim_id: string
  now_ms: number
  stored: StoredChannel | undefined
  /** The channel with its secrets, or why no attempt is made. */
  channel: OpenChannel | { unusable: string }
  messages: ClaimedMessage[]
  superseded: number
}

/** Limits of claims. */
export type ClaimSettings = {
  secret_key: string | undefined
  /** Time after which another process repeats the attempt of a killed one; a living one extends it. */
  lease_ms: number
  /** Messages of one attempt, for channels that take several. */
  messages_max: number
  /** Added to the clock of the database; for tests. */
  ahead_ms: () => number
}

/**
 * Returns channels with messages that are due and that no process attempts now: the oldest ones of
 * each project, so that a project with many channels does not delay others.
 */
export async function findDueChannels(
  db: IncidentDb,
  limits: { ahead_ms: number; channels_max: number; per_project_max: number },
): Promise<ChannelName[]> {
  const now = sql`clock_timestamp() + ${limits.ahead_ms} * interval '1 ms'`
  const { rows } = await sql<ChannelName>`
    select project_id, channel as channel_name from (
      select project_id, channel, min(next_attempt_at) as due,
        row_number() over (partition by project_id order by min(next_attempt_at)) as place
      from notification_outbox
      where state = 'waiting' and next_attempt_at <= ${now}
      group by project_id, channel
      having bool_and(claimed_until is null or claimed_until <= ${now})
    ) as waiting
    where place <= ${limits.per_project_max}
    order by place, due limit ${limits.channels_max}
  `.execute(db)
  return rows
}

/**
 * Claims the messages of the next attempt of a channel. The attempt is counted in the same
 * transaction, before the request: a process that is killed leaves a message that is attempted
 * again, with the same id. Returns undefined if no message is due, or another process is at work.
 */
export function claimMessages(
  db: IncidentDb,
  target: ChannelName,
  settings: ClaimSettings,
): Promise<Claim | undefined> {
  return db.transaction().execute(async (trx) => {
    const now_ms = await lockChannel(trx, target, settings.ahead_ms())
    if (now_ms === undefined) return undefined
    const rows = await readWaiting(trx, target, now_ms)
    if (rows.some(({ claimed_ms }) => claimed_ms > now_ms)) return undefined
    const stored = await findChannel(trx, target)
    const channel = usableChannel(stored, target, settings.secret_key)
    const isUsable = !('unusable' in channel)
    const groups = isUsable ? await readGroups(trx, target) : new Map<string, number>()
    const messages_max = isUsable && !takesSeveral(channel) ? 1 : settings.messages_max
    const plan = planClaim(rows, groups, { now_ms, messages_max })
    const claim_id = newId()
    await writePlan(trx, target, { plan, claim_id, now_ms, settings, isUsable })
    const messages = await readClaimed(trx, target, claim_id)
    return {
      ...target,
      claim_id,
      now_ms,
      stored,
      channel,
      messages,
      superseded: plan.superseded.length,
    }
  })
}

/** Extends the lease of a claim, unless another process has taken its messages. */
export async function extendClaim(
  db: IncidentDb,
  claim_id: string,
  { lease_ms, ahead_ms }: ClaimSettings,
): Promise<void> {
  await db
    .updateTable('notification_outbox')
    .set({
      claimed_until: sql<string>`clock_timestamp() + ${ahead_ms() + lease_ms} * interval '1 ms'`,
    })
    .where('claim', '=', claim_id)
    .where('state', '=', 'waiting')
    .execute()
}

/** Finds a channel by its name. */
export function findChannel(
  db: IncidentDb,
  { project_id, channel_name }: ChannelName,
): Promise<StoredChannel | undefined> {
  return channelTable.findBy(db, project_id, { name: channel_name })
}

/** Locks a channel for the transaction. Returns the time, or undefined if it is locked. */
export async function lockChannel(
  trx: IncidentDb,
  { project_id, channel_name }: ChannelName,
  ahead_ms: number,
): Promise<number | undefined> {
  const lock = `looptrace.channel ${project_id} ${channel_name}`
  const { rows } = await sql<{ locked: boolean; now_ms: number }>`
    select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as locked,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
  `.execute(trx)
  const [row] = rows
  return row?.locked === true ? row.now_ms + ahead_ms : undefined
}

function usableChannel(
  stored: StoredChannel | undefined,
  { channel_name }: ChannelName,
  secret_key: string | undefined,
): Claim['channel'] {
  if (stored === undefined) return { unusable: `no channel has the name ${channel_name}` }
  if (stored.disabled_at !== null) {
    return { unusable: `the channel is disabled: ${stored.disabled_reason ?? 'by a person'}` }
  }
  const opened = openChannel(stored, secret_key)
  return 'unreadable' in opened ? { unusable: opened.unreadable } : opened
}

async function readGroups(
  trx: IncidentDb,
  { project_id, channel_name }: ChannelName,
): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('message_groups')
    .select(['rule_name', 'last_sent_at'])
    .where('project_id', '=', project_id)
    .where('channel', '=', channel_name)
    .execute()
  return new Map(rows.map(({ rule_name, last_sent_at }) => [rule_name, Date.parse(last_sent_at)]))
}

type PlanToWrite = {
  plan: ClaimPlan
  claim_id: string
  now_ms: number
  settings: ClaimSettings
  isUsable: boolean
}

async function writePlan(
  trx: IncidentDb,
  { project_id, channel_name }: ChannelName,
  { plan, claim_id, now_ms, settings, isUsable }: PlanToWrite,
): Promise<void> {
  const now = new Date(now_ms)
  const outbox = () => trx.updateTable('notification_outbox')
  if (plan.superseded.length > 0) {
    await outbox()
      .set({ state: 'superseded', ended_at: now })
      .where('id', 'in', plan.superseded)
      .execute()
  }
  if (plan.deferred.length > 0) {
    const records = plan.deferred.map(({ id, until_ms }) => ({ id, until: new Date(until_ms) }))
    await sql`
      update notification_outbox as waiting set next_attempt_at = given.until
      from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as given(id uuid, until timestamptz)
      where waiting.id = given.id and waiting.next_attempt_at <> given.until
    `.execute(trx)
  }
  if (plan.released.length > 0) {
    await outbox().set({ released: true }).where('id', 'in', plan.released).execute()
  }
  if (plan.claimed.length === 0) return
  if (plan.joined.length > 0) await setReason(trx, plan.joined, 'opened_and_resolved')
  await outbox()
    .set((row) => ({
      claim: claim_id,
      claimed_until: new Date(now_ms + settings.lease_ms),
      released: true,
      // Without a usable channel no attempt is made.
      attempts: row('attempts', '+', isUsable ? 1 : 0),
    }))
    .where(
      'id',
      'in',
      plan.claimed.map(({ id }) => id),
    )
    .execute()
  const rules = new Set(
    plan.claimed.filter(({ released }) => !released).map((row) => row.rule_name),
  )
  for (const rule_name of rules) {
    await trx
      .insertInto('message_groups')
      .values({ project_id, channel: channel_name, rule_name, last_sent_at: now })
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'channel', 'rule_name']).doUpdateSet({ last_sent_at: now }),
      )
      .execute()
  }
}

async function setReason(
  trx: IncidentDb,
  ids: readonly string[],
  reason: MessageReason,
): Promise<void> {
  await sql`
    update notification_outbox
    set reason = ${reason}, message = jsonb_set(message, '{reason}', to_jsonb(${reason}::text))
    where id = any(${[...ids]}::uuid[])
  `.execute(trx)
}

async function readClaimed(
  trx: IncidentDb,
  { channel_name }: ChannelName,
  claim_id: string,
): Promise<ClaimedMessage[]> {
  const rows = await trx
    .selectFrom('notification_outbox as row')
    .leftJoin('channel_threads as thread', (join) =>
      join
        .onRef('thread.incident_id', '=', 'row.incident_id')
        .on('thread.channel', '=', channel_name),
    )
    .select(['row.id', 'row.incident_id', 'row.event_seq', 'row.reason', 'row.message'])
    .select(['row.attempts', 'row.attempts_before', 'thread.thread'])
    .where('row.claim', '=', claim_id)
    .orderBy('row.created_at')
    .orderBy('row.id')
    .execute()
  return rows.map(({ attempts, attempts_before, reason, message, ...row }) => ({
    ...row,
    reason: reason as MessageReason,
    message: message as unknown as Message,
    attempt: attempts,
    attempt_since_resend: attempts - attempts_before,
  }))
}
