import { sql } from '../../../../platform/relational/index.ts'
import type { MessageReason } from '../../messages/message.ts'
import type { IncidentDb } from '../../ports.ts'
import type { WaitingRow } from './plan-claim.ts'

/** Names a channel of a project. */
export type ChannelName = { project_id: string; channel_name: string }

/** Rows of a channel that a claim reads: the oldest ones, and the incidents of those that are due. */
const rows_max = 500

/**
 * Reads and locks waiting rows of a channel, the oldest first. Due rows are found behind any number
 * of rows that wait, with all rows of their incidents: otherwise a rule with many groups could delay
 * the messages of the others.
 */
export async function readWaiting(
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
    .select([
      sql<boolean>`(message -> 'incident' ->> 'suppressed')::boolean`.as('muted'),
      wasAnnounced,
    ])
    .where((row) => row.or([row('id', 'in', oldest), row('incident_id', 'in', due)]))
    .orderBy('created_at')
    .orderBy('event_seq')
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(({ incident_id, reason, ...row }) => ({
    ...row,
    incident: incident_id,
    channel: target.channel_name,
    reason: reason as MessageReason,
    created_ms: Date.parse(row.created_at),
    next_attempt_ms: Date.parse(row.next_attempt_at),
    claimed_ms: row.claimed_until === null ? 0 : Date.parse(row.claimed_until),
  }))
}

const ends = sql`('resolved', 'opened_and_resolved')`

/**
 * Whether an end follows a message that may have reached the channel, and no end that did: one that
 * was delivered, or whose attempt had no answer, perhaps because its process was killed. A receiver
 * that answered each attempt with a refusal knows nothing.
 */
const wasAnnounced = sql<boolean>`(reason in ${ends} and exists (
  select 1 from notification_outbox as earlier
  where earlier.incident_id = notification_outbox.incident_id
    and earlier.channel = notification_outbox.channel
    and earlier.event_seq < notification_outbox.event_seq
    and earlier.reason not in ${ends} and earlier.state <> 'waiting'
    and (earlier.state = 'delivered' or earlier.attempts > (
      select count(*) from notification_deliveries as answered
      where answered.outbox_id = earlier.id and answered.status is not null
    ))
    and not exists (
      select 1 from notification_outbox as told
      where told.incident_id = notification_outbox.incident_id
        and told.channel = notification_outbox.channel
        and told.event_seq > earlier.event_seq
        and told.event_seq < notification_outbox.event_seq
        and told.reason in ${ends} and told.state = 'delivered'
    )
))`.as('announced')

function waitingRows(trx: IncidentDb, { project_id, channel_name }: ChannelName) {
  return trx
    .selectFrom('notification_outbox')
    .where('project_id', '=', project_id)
    .where('channel', '=', channel_name)
    .where('state', '=', 'waiting')
}
