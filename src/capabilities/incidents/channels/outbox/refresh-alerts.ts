import { sql } from '../../../../platform/relational/index.ts'
import type { Logger } from '../../../../platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../../../platform/tenancy/index.ts'
import type { Message } from '../../messages/message.ts'
import type { IncidentDb } from '../../ports.ts'
import { openChannel } from '../channel-secrets.ts'
import type { Outgoing, SenderPorts } from '../senders/contract.ts'
import { send } from '../senders/send.ts'
import { findChannel, lockChannel } from './claim.ts'
import { linksOf } from './describe.ts'
import type { ChannelName } from './waiting-rows.ts'

/** The ports of the refresh of alerts. */
export type RefreshPorts = Pick<SenderPorts, 'outbound' | 'mailer' | 'timeout_ms'> & {
  db: IncidentDb
  logger: Logger
  public_url?: string | undefined
  settings: { secret_key: string | undefined; ahead_ms: () => number }
}

/** Alerts of one request. */
const alerts_max = 500

/**
 * Sends the alerts of unresolved incidents to Alertmanager again, which forgets those that no client
 * repeats. A channel that fails gets them with the next refresh.
 */
export async function refreshAlerts(ports: RefreshPorts, signal: AbortSignal): Promise<void> {
  const channels = await runInInstallation('alerts of all projects that still fire', () =>
    findAlertChannels(ports.db),
  )
  for (const target of channels) {
    signal.throwIfAborted()
    await runInProject(target.project_id, () => refreshChannel(target, ports, signal)).catch(
      (error: unknown) => {
        if (!signal.aborted)
          ports.logger.warn({ err: error, ...target }, 'sending alerts again failed')
      },
    )
  }
}

async function findAlertChannels(db: IncidentDb): Promise<ChannelName[]> {
  const rows = await db
    .selectFrom('notification_channels as channel')
    .select(['channel.project_id', 'channel.name as channel_name'])
    .where('type', '=', 'alertmanager')
    .where('disabled_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('incidents')
          .select('id')
          .whereRef('incidents.project_id', '=', 'channel.project_id')
          .where('state', '<>', 'resolved'),
      ),
    )
    .execute()
  return rows
}

/**
 * Sends the newest message of each unresolved incident again. The channel is locked meanwhile, so that
 * no end overtakes an alert that fires; a channel with an attempt in progress waits for the next time.
 */
function refreshChannel(
  target: ChannelName,
  ports: RefreshPorts,
  signal: AbortSignal,
): Promise<void> {
  const { db, settings, public_url, logger } = ports
  return db.transaction().execute(async (trx) => {
    const now_ms = await lockChannel(trx, target, settings.ahead_ms())
    const stored = now_ms === undefined ? undefined : await findChannel(trx, target)
    if (now_ms === undefined || stored === undefined) return
    const channel = openChannel(stored, settings.secret_key)
    if ('unreadable' in channel) return
    const firing = await readFiring(trx, target, now_ms)
    const messages = firing.map((one): Outgoing => {
      const links = linksOf(one.message, public_url)
      return { ...one, message: { ...one.message, ...(links && { links }) } }
    })
    if (messages.length === 0) return
    const { error } = await send(messages, channel, { ...ports, now_ms, signal })
    if (error !== null) logger.warn({ ...target, reason: error }, 'alerts were not accepted again')
  })
}

type Firing = { id: string; message: Message; thread: string | null }

/** Returns the newest delivered message of each unresolved incident without a message that waits. */
async function readFiring(
  trx: IncidentDb,
  { project_id, channel_name }: ChannelName,
  now_ms: number,
): Promise<Firing[]> {
  const { rows } = await sql<Firing>`
    select distinct on (row.incident_id) row.id, row.message, thread.thread
    from incidents as incident
    join notification_outbox as row on row.incident_id = incident.id
      and row.project_id = incident.project_id
    left join channel_threads as thread on thread.incident_id = incident.id
      and thread.channel = row.channel
    where incident.project_id = ${project_id} and incident.state <> 'resolved'
      and row.channel = ${channel_name} and row.state = 'delivered'
      and row.reason not in ('resolved', 'opened_and_resolved')
      and not exists (
        select 1 from notification_outbox as waiting
        where waiting.project_id = ${project_id} and waiting.channel = ${channel_name}
          and waiting.state = 'waiting'
          and (waiting.incident_id = incident.id or waiting.claimed_until > ${new Date(now_ms)})
      )
    order by row.incident_id, row.event_seq desc
    limit ${alerts_max}
  `.execute(trx)
  return rows
}
