import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { findIncident } from '../store/find-incident.ts'
import { channelTable } from './channel-secrets.ts'
import { type ChannelRoutesDeps, channelReads } from './contract.ts'
import {
  type DeliveryRow,
  isOvertaken,
  type MessageRow,
  resendMessage,
  selectDeliveries,
  selectMessages,
} from './deliveries-store.ts'

const deliverySchema = record('NotificationDelivery', {
  delivery_id: z.uuid(),
  message_id: z.uuid().nullable().describe('Also the `webhook-id`. Null for a test message.'),
  incident_id: z.uuid().nullable(),
  reason: z.string().nullable(),
  attempt: z.int().describe('Number of the attempt of its message, from 1.'),
  started_at: z.iso.datetime(),
  duration_ms: z.int(),
  status: z.int().nullable().describe('Status of the answer; null without an answer.'),
  error: z.string().nullable().describe('Null if the receiver accepted the message.'),
  response: z.string().nullable().describe('Begin of the answer, at most 2 KB, without secrets.'),
})

/** A message of an incident to a channel, in replies. */
const messageSchema = record('NotificationMessage', {
  message_id: z.uuid().describe('Id of the message; the `webhook-id` of all attempts.'),
  incident_id: z.uuid(),
  channel: z.string().describe('Name of the channel.'),
  reason: z.string(),
  state: z
    .enum(['waiting', 'delivered', 'dead', 'superseded'])
    .describe('`superseded`: a resolve came before the first attempt.'),
  attempts: z.int(),
  next_attempt_at: z.iso.datetime().nullable().describe('Null once it is not attempted again.'),
  error: z.string().nullable().describe('Reason of the last failure.'),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
})

/** GET /api/v2/observability/incidents/channels/{channel_id}/deliveries: attempts of a channel. */
export function listChannelDeliveries({ db }: ChannelRoutesDeps): Route {
  const list = 'deliveries of a channel'
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/channels/{channel_id}/deliveries',
    id: 'listChannelDeliveries',
    summary: 'Attempts of a channel to deliver messages, newest first; kept 30 days',
    auth: 'jwt_or_key',
    scope: channelReads,
    params: channelTable.path,
    query: z.strictObject(idPageQuery),
    reply: record('NotificationDeliveryList', {
      deliveries: z.array(deliverySchema),
      ...pageFields,
    }),
    errors: ['channel_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params, query: { limit, cursor }, caller }) => {
      const { project_id } = caller
      const channel = await channelTable.read(db, { project_id, id: channelTable.idIn(params) })
      const { items, info } = await readIdPage(list, { limit, cursor }, (page) =>
        selectDeliveries(db, { project_id, channel: channel.name }, page),
      )
      return { deliveries: items.map(toDelivery), ...info }
    },
  })
}

/** GET /api/v2/observability/incidents/{id}/deliveries: the messages of an incident. */
export function listIncidentDeliveries({ db }: ChannelRoutesDeps): Route {
  const list = 'messages of an incident'
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/{id}/deliveries',
    id: 'listIncidentDeliveries',
    summary: 'Messages of an incident and whether they were delivered, newest first',
    auth: 'jwt_or_key',
    scope: channelReads,
    params: z.strictObject({
      id: z.string().describe('Id of the incident, or its number in the project.'),
    }),
    query: z.strictObject(idPageQuery),
    reply: record('NotificationMessageList', { messages: z.array(messageSchema), ...pageFields }),
    errors: ['incident_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { id }, query: { limit, cursor }, caller: { project_id } }) => {
      const { id: incident_id } = await findIncident(db, project_id, id)
      const which = { project_id, incident_id }
      const { items, info } = await readIdPage(list, { limit, cursor }, (page) =>
        selectMessages(db, which, page),
      )
      return { messages: items.map(toMessageReply), ...info }
    },
  })
}

function toDelivery(row: DeliveryRow): z.input<typeof deliverySchema> {
  const { id: delivery_id, outbox_id: message_id, incident_id, reason, attempt } = row
  const { started_at, duration_ms, status, error, response } = row
  return {
    delivery_id,
    message_id,
    incident_id,
    reason,
    attempt,
    started_at,
    duration_ms,
    status,
    error,
    response: response === '' ? null : response,
  }
}

/** Returns a message as replies show it. */
function toMessageReply(row: MessageRow): z.input<typeof messageSchema> {
  const { id: message_id, incident_id, channel, reason, state, attempts } = row
  const { last_error: error, created_at, ended_at } = row
  const next_attempt_at = state === 'waiting' ? row.next_attempt_at : null
  return {
    message_id,
    incident_id,
    channel,
    reason,
    state,
    attempts,
    next_attempt_at,
    error,
    created_at,
    ended_at,
  }
}

/**
 * POST /api/v2/observability/incidents/deliveries/{message_id}/resend: sends a message again, with
 * the same id, now. It has all attempts again. A receiver that shows the state of an incident gets
 * only its newest message again: an older one would open an alert that has ended.
 */
export function resendNotification({ db }: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/deliveries/{message_id}/resend',
    id: 'resendNotification',
    summary: 'Send a message again, with the same id',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'incidents:write' },
    caller_rate_per_minute_max: 60,
    params: z.strictObject({ message_id: z.string().describe('Id of the message.') }),
    reply: messageSchema,
    errors: ['message_not_found', 'incident_state_conflict', 'store_unavailable'],
    handle: async ({ params: { message_id }, caller: { project_id } }) => {
      const which = { project_id, message_id }
      if (!isUuid(message_id)) throw messageNotFound(message_id)
      if (await isOvertaken(db, which)) {
        throw problem('incident_state_conflict', {
          detail:
            'A later message of the incident was sent to this channel, and the receiver shows the state of the last message. Send the newest message of the incident again.',
        })
      }
      const row = await resendMessage(db, which)
      if (row === undefined) throw messageNotFound(message_id)
      return toMessageReply(row)
    },
  })
}

function messageNotFound(message_id: string): Problem {
  return problem('message_not_found', {
    detail: `message_id: got "${message_id.slice(0, 80)}", expected the id of a message of this project`,
  })
}
