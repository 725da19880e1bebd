import { newId } from '../../../../kernel/ids.ts'
import { sql } from '../../../../platform/relational/index.ts'
import type { NoticeReason } from '../../life-cycle/notices.ts'
import type { Message } from '../../messages/message.ts'
import type { IncidentDb } from '../../ports.ts'
import { openChannel, type StoredChannel } from '../channel-secrets.ts'
import type { OpenChannel } from '../senders/contract.ts'
import { takesSeveral } from '../senders/send.ts'
import { type ClaimPlan, planClaim, type WaitingRow } from './plan-claim.ts'

/** Names a channel of a project. */
export type ChannelName = { project_id: string; channel_name: string }

/** A message of a claim. */
export type ClaimedMessage = {
  id: string
  incident_id: string
  event_seq: number
  reason: NoticeReason
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
  /** Time after which another process repeats the attempt of a killed one. */
  lease_ms: number
  /** Messages of one attempt, for channels that take several. */
  messages_max: number
  /** Added to the clock of the database; for tests. */
  ahead_ms: () => number
}

/** Rows of a channel that a claim reads: the oldest ones, and the incidents of those that are due. */
const rows_max = 500

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

/** Finds a channel by its name. */
export function findChannel(
  db: IncidentDb,
  { project_id, channel_name }: ChannelName,
): Promise<StoredChannel | undefined> {
  return db
    .selectFrom('notification_channels')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('name', '=', channel_name)
    .executeTakeFirst()
}

/** Locks a channel for the transaction. Returns the time, or undefined if it is locked. */
async function lockChannel(
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

/**
 * Reads and locks waiting rows of a channel, the oldest first. Due rows are found behind any number
 * of rows that wait, with all rows of their incidents: otherwise a rule with many groups could delay
 * the messages of the others.
 */
async function readWaiting(
  trx: IncidentDb,
  target: ChannelName,
  now_ms: number,
): Promise<(WaitingRow & { claimed_ms: number })[]> {
  const oldest = waitingRows(trx, target).select('id').orderBy('created_at').limit(rows_max)
  const due = waitingRows(trx, target)
    .select('incident_id')
    .where('next_attempt_at', '<=', sql<string>`${new Date(now_ms)}::timestamptz`)
    .orderBy('claimed_until')
    .orderBy('created_at')
    .limit(rows_max)
  const rows = await waitingRows(trx, target)
    .select(['id', 'incident_id', 'event_seq', 'reason', 'rule_name', 'grouping', 'late'])
    .select(['attempts', 'released', 'created_at', 'next_attempt_at', 'claimed_until'])
    .where((row) => row.or([row('id', 'in', oldest), row('incident_id', 'in', due)]))
    .orderBy('created_at')
    .orderBy('event_seq')
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(({ incident_id, reason, ...row }) => ({
    ...row,
    ...{ incident: incident_id, channel: target.channel_name, reason: reason as NoticeReason },
    created_ms: Date.parse(row.created_at),
    next_attempt_ms: Date.parse(row.next_attempt_at),
    claimed_ms: row.claimed_until === null ? 0 : Date.parse(row.claimed_until),
  }))
}

function waitingRows(trx: IncidentDb, { project_id, channel_name }: ChannelName) {
  return trx
    .selectFrom('notification_outbox')
    .where('project_id', '=', project_id)
    .where('channel', '=', channel_name)
    .where('state', '=', 'waiting')
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
    reason: reason as NoticeReason,
    message: message as unknown as Message,
    attempt: attempts,
    attempt_since_resend: attempts - attempts_before,
  }))
}
