import type { IdPage } from '../../../model/id-pages.ts'
import {
  countUpTo,
  type IncidentTables,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'

/** An attempt, with the message that it was for. */
export type DeliveryRow = Selectable<IncidentTables['notification_deliveries']> & {
  incident_id: string | null
  reason: string | null
}

/** A message of the outbox. */
export type MessageRow = Omit<
  Selectable<IncidentTables['notification_outbox']>,
  'message' | 'grouping' | 'used_links'
>

/** Returns a page of the attempts of a channel, newest first. */
export async function selectDeliveries(
  db: IncidentDb,
  { project_id, channel }: { project_id: string; channel: string },
  { after, limit, count_max }: IdPage,
): Promise<{ rows: DeliveryRow[]; counted: number }> {
  const rows = await db
    .selectFrom('notification_deliveries as attempt')
    .leftJoin('notification_outbox as row', 'row.id', 'attempt.outbox_id')
    .selectAll('attempt')
    .select(['row.incident_id', 'row.reason'])
    .where('attempt.project_id', '=', project_id)
    .where('attempt.channel', '=', channel)
    .$if(after !== undefined, (query) => query.where('attempt.id', '<', after ?? ''))
    .orderBy('attempt.id', 'desc')
    .limit(limit)
    .execute()
  const attempts = db
    .selectFrom('notification_deliveries')
    .select('id')
    .where('project_id', '=', project_id)
    .where('channel', '=', channel)
  return { rows, counted: await countUpTo(db, attempts, count_max) }
}

/** Returns a page of the messages of an incident, newest first. */
export async function selectMessages(
  db: IncidentDb,
  { project_id, incident_id }: { project_id: string; incident_id: string },
  { after, limit, count_max }: IdPage,
): Promise<{ rows: MessageRow[]; counted: number }> {
  const messages = db
    .selectFrom('notification_outbox')
    .where('project_id', '=', project_id)
    .where('incident_id', '=', incident_id)
  const rows = await messages
    .select(messageColumns)
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const n = await countUpTo(db, messages.select('id'), count_max)
  return { rows, counted: Number(n) }
}

/**
 * Returns whether a later message of the incident was sent, or is being sent, to the same channel,
 * and the receiver shows the state of the last message: as an alert, or in a post that is edited.
 */
export async function isOvertaken(
  db: IncidentDb,
  { project_id, message_id }: { project_id: string; message_id: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('notification_outbox as row')
    .innerJoin('notification_outbox as later', (join) =>
      join
        .onRef('later.incident_id', '=', 'row.incident_id')
        .onRef('later.channel', '=', 'row.channel')
        .onRef('later.event_seq', '>', 'row.event_seq'),
    )
    .innerJoin('notification_channels as channel', (join) =>
      join
        .onRef('channel.project_id', '=', 'row.project_id')
        .onRef('channel.name', '=', 'row.channel'),
    )
    .select('later.id')
    .where('row.project_id', '=', project_id)
    .where('row.id', '=', message_id)
    .where(sql<boolean>`(later.state = 'delivered' or later.claim is not null)`)
    .where(sql<boolean>`(channel.type in ('pagerduty', 'alertmanager')
      or (channel.type = 'slack' and channel.secrets ? 'token'))`)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Makes a message due now, with all its attempts. Its id remains, so that a receiver recognises it.
 * Returns undefined if the project has no such message.
 */
export function resendMessage(
  db: IncidentDb,
  { project_id, message_id }: { project_id: string; message_id: string },
): Promise<MessageRow | undefined> {
  return db
    .updateTable('notification_outbox')
    .set({
      state: 'waiting',
      released: true,
      next_attempt_at: sql<string>`now()`,
      ended_at: null,
      attempts_before: sql<number>`case when state = 'waiting' then attempts_before else attempts end`,
    })
    .where('project_id', '=', project_id)
    .where('id', '=', message_id)
    .returning(messageColumns)
    .executeTakeFirst()
}

const kept_days = 30
const batch_max = 5_000

/** Deletes messages that ended, and attempts, after 30 days. */
export async function deleteOldDeliveries(db: IncidentDb, signal: AbortSignal): Promise<void> {
  const old = sql`now() - ${kept_days} * interval '1 day'`
  for (let deleted = batch_max; deleted === batch_max && !signal.aborted; ) {
    const { rows } = await sql<{ n: number }>`
      with messages as (
        delete from notification_outbox where id in (
          select id from notification_outbox
          where state <> 'waiting' and ended_at < ${old} limit ${batch_max}
        ) returning 1
      ), attempts as (
        delete from notification_deliveries where id in (
          select id from notification_deliveries where started_at < ${old} limit ${batch_max}
        ) returning 1
      )
      select greatest((select count(*) from messages), (select count(*) from attempts))::int as n
    `.execute(db)
    deleted = Number(rows[0]?.n ?? 0)
  }
}

const messageColumns = [
  ...(['id', 'project_id', 'incident_id', 'event_seq', 'channel', 'reason', 'rule_name'] as const),
  ...(['late', 'state', 'released', 'attempts', 'attempts_before', 'next_attempt_at'] as const),
  ...(['claim', 'claimed_until', 'last_error', 'created_at', 'ended_at'] as const),
] as const
