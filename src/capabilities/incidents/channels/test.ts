import { performance } from 'node:perf_hooks'
import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { channelTable, openChannel } from './channel-secrets.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { sampleMessage } from './sample-message.ts'
import type { OpenChannel, Sent } from './senders/contract.ts'
import { send } from './senders/send.ts'

/** Receivers whose alerts stay open until they are resolved get a resolve. */
const keepsAlerts: readonly OpenChannel['type'][] = ['pagerduty', 'alertmanager']

/**
 * POST /api/v2/observability/incidents/channels/{channel_id}/test: sends one made-up message, also
 * to a disabled channel, and answers what the receiver said. It is not attempted again.
 */
export function testChannel(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/channels/{channel_id}/test',
    id: 'testNotificationChannel',
    summary: 'Send a test message to a channel',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    caller_rate_per_minute_max: 10,
    params: channelTable.path,
    reply: record('ChannelTest', {
      delivered: z.boolean(),
      status: z.int().nullable().describe('Status of the answer; null without an answer.'),
      error: z.string().nullable().describe('Why it was not delivered.'),
      response: z.string().nullable().describe('Begin of the answer, without secrets.'),
      duration_ms: z.int(),
    }),
    errors: ['channel_not_found', 'store_unavailable'],
    handle: async ({ params, caller: { project_id }, signal }) => {
      const row = await channelTable.read(deps.db, { project_id, id: channelTable.idIn(params) })
      const opened = openChannel(row, deps.secret_key)
      const started = performance.now()
      const sent =
        'unreadable' in opened
          ? unsent(opened.unreadable)
          : await sendSample(deps, opened, { project_id, signal })
      const duration_ms = Math.round(performance.now() - started)
      const reply = toReply(sent, duration_ms)
      await recordTest(deps, { project_id, channel: row.name }, reply)
      return { delivered: sent.error === null, ...reply }
    },
  })
}

function unsent(error: string): Sent {
  return { result: { refused: error }, error, response: '' }
}

function sendSample(
  { outbound, mailer, clock, slack_api }: ChannelRoutesDeps,
  channel: OpenChannel,
  { project_id, signal }: { project_id: string; signal: AbortSignal },
): Promise<Sent> {
  const now_ms = clock.now_ms()
  const reason = keepsAlerts.includes(channel.type) ? 'resolved' : 'opened'
  const message = sampleMessage(reason, { project_id, incident_id: newId(), now_ms })
  const outgoing = { id: newId(), message, thread: null, is_test: true } as const
  return send([outgoing], channel, { outbound, mailer, now_ms, signal, slack_api })
}

type Reply = {
  status: number | null
  error: string | null
  response: string | null
  duration_ms: number
}

function toReply({ result, error, response }: Sent, duration_ms: number): Reply {
  const status = 'status' in result ? result.status : null
  return { status, error, response: response === '' ? null : response, duration_ms }
}

async function recordTest(
  { db, clock }: ChannelRoutesDeps,
  channel: { project_id: string; channel: string },
  reply: Reply,
): Promise<void> {
  await db
    .insertInto('notification_deliveries')
    .values({
      id: newId(),
      outbox_id: null,
      ...channel,
      attempt: 1,
      ...reply,
      started_at: new Date(clock.now_ms() - reply.duration_ms),
    })
    .execute()
}
