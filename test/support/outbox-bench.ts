import { pino } from 'pino'
import type { ChannelType } from '../../src/capabilities/incidents/channels/channel.ts'
import { sealSecrets } from '../../src/capabilities/incidents/channels/channel-secrets.ts'
import {
  type AttemptPorts,
  attemptNext,
} from '../../src/capabilities/incidents/channels/outbox/attempt.ts'
import { findDueChannels } from '../../src/capabilities/incidents/channels/outbox/claim.ts'
import { sampleMessage } from '../../src/capabilities/incidents/channels/sample-message.ts'
import {
  defaultSenderSettings,
  type Notifications,
  notificationMeters,
  startNotifications,
} from '../../src/capabilities/incidents/index.ts'
import type { Message } from '../../src/capabilities/incidents/messages/message.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openMailer } from '../../src/platform/mail/index.ts'
import {
  type Address,
  openOutbound,
  parseAllowedNetwork,
} from '../../src/platform/outbound/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { type IncidentApi, openIncidentApi } from './incident-api.ts'

export const secret_key = 'a secret of at least 32 characters'

/** A project with channels, incidents and an outbox, and a sender that a test drives. */
export type OutboxBench = AsyncDisposable & {
  api: IncidentApi
  project_id: string
  ports: AttemptPorts
  /** Milliseconds that the sender is ahead of the database. */
  time: { ahead_ms: number }
  exposed(): Promise<string>
  logged(): string
  addChannel(name: string, type: ChannelType, more: NewChannel): Promise<string>
  addIncident(project_id?: string): Promise<string>
  addMessage(message: NewMessage): Promise<string>
  /** Makes all attempts that are due. Returns their number. */
  drain(): Promise<number>
  states(incident_id: string): Promise<string[]>
  start(): Notifications
}

type NewChannel = {
  section?: object
  secrets?: Record<string, string>
  fallback?: string
  project_id?: string
}
type NewMessage = {
  incident_id: string
  channel: string
  event_seq?: number
  reason?: Message['reason']
  rule?: string
  project_id?: string
  incident?: Partial<Message['incident']>
  grouping?: { wait: string; interval: string; repeat: string }
  late?: boolean
}

const atOnce = { wait: '0s', interval: '0s', repeat: '4h' }

/** Opens a bench whose sender may reach these ports of loopback. */
export async function openOutboxBench(options: {
  ports: readonly number[]
  smtp_port?: number
  slack_api?: string
  names?: Record<string, string>
}): Promise<OutboxBench> {
  const { ports, smtp_port, slack_api, names = {} } = options
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line) => lines.push(line) })
  const metrics = createMetrics()
  const allowed = ports.map((port) => parseAllowedNetwork(`127.0.0.1/32:${port}`))
  const resolve = async (host: string): Promise<readonly Address[]> => {
    const address = names[host]
    if (address === undefined) throw new Error('ENOTFOUND')
    return [{ address, family: 4 }]
  }
  const outbound = openOutbound({ allowed, resolve })
  const smtp_url = smtp_port === undefined ? undefined : `smtp://127.0.0.1:${smtp_port}`
  const mailer = openMailer({ smtp_url, from: 'looptrace@example.com', logger, metrics })
  const api = await openIncidentApi({ secret_key, outbound, mailer, slack_api })
  const project_id = await api.newProject()
  const time = { ahead_ms: 0 }
  const sender: AttemptPorts = {
    ...{ db: api.db, outbound, mailer, logger, slack_api, random: () => 0.5 },
    meters: notificationMeters(metrics),
    settings: { ...defaultSenderSettings, secret_key, ahead_ms: () => time.ahead_ms },
  }
  const bench: OutboxBench = {
    ...{ api, project_id, ports: sender, time },
    exposed: async () => (await metrics.expose()).body,
    logged: () => lines.join(''),
    addChannel: (name, type, more) => addChannel(bench, name, type, more),
    addIncident: (project = project_id) => api.insertIncident(project),
    addMessage: (message) => addMessage(bench, message),
    drain: () => drain(bench),
    states: async (incident_id) => {
      const rows = await api.db
        .selectFrom('notification_outbox')
        .select(['event_seq', 'reason', 'channel', 'state'])
        .where('incident_id', '=', incident_id)
        .orderBy('event_seq')
        .orderBy('channel')
        .execute()
      return rows.map((row) => `${row.event_seq} ${row.reason} to ${row.channel}: ${row.state}`)
    },
    start: () =>
      startNotifications({
        ...sender,
        settings: { ...defaultSenderSettings, ...sender.settings, poll_ms: 100 },
      }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
  return bench
}

async function addChannel(
  { api, ...bench }: OutboxBench,
  name: string,
  type: ChannelType,
  { section = {}, secrets = {}, fallback, project_id = bench.project_id }: NewChannel,
): Promise<string> {
  const id = newId()
  const now = new Date()
  await api.db
    .insertInto('notification_channels')
    .values({
      ...{ id, project_id, name, type, fallback: fallback ?? null, version: 1 },
      config: JSON.stringify({ section, templates: {} }),
      secrets: JSON.stringify(sealSecrets(secrets, { channel_id: id, secret_key })),
      ...{ created_at: now, updated_at: now, updated_by: 'user:ada' },
    })
    .execute()
  return id
}

async function addMessage({ api, ...bench }: OutboxBench, given: NewMessage): Promise<string> {
  const { incident_id, channel, event_seq = 1, reason = 'opened', rule = 'slow-answers' } = given
  const { project_id = bench.project_id, grouping = atOnce, late = false } = given
  const id = newId()
  const now_ms = Date.now() + bench.time.ahead_ms
  const now = new Date(now_ms)
  const { details: _, ...sample } = sampleMessage(reason, { project_id, incident_id, now_ms })
  const message = { ...sample, incident: { ...sample.incident, rule, ...given.incident } }
  await api.db
    .insertInto('notification_outbox')
    .values({
      ...{ id, project_id, incident_id, event_seq, channel, reason, rule_name: rule, late },
      ...{ grouping: JSON.stringify(grouping), message: JSON.stringify(message) },
      ...{ state: 'waiting', next_attempt_at: now, created_at: now },
    })
    .execute()
  return id
}

async function drain({ ports, time }: OutboxBench): Promise<number> {
  const never = new AbortController().signal
  let attempts = 0
  for (let rounds = 0; rounds < 200; rounds += 1) {
    const limits = { ahead_ms: time.ahead_ms, channels_max: 100, per_project_max: 100 }
    const due = await findDueChannels(ports.db, limits)
    const made = await Promise.all(due.map((target) => attemptNext(target, ports, never)))
    const count = made.filter((one) => one).length
    if (count === 0) return attempts
    attempts += count
  }
  throw new Error('messages are due for ever')
}
