import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Message, MessageReason } from '../messages/message.ts'
import { findIncident } from '../store/find-incident.ts'
import { toIncidentView } from '../store/incident-row.ts'
import { channelType, templatesSchema } from './channel.ts'
import { type ChannelRoutesDeps, channelReads } from './contract.ts'
import { described } from './outbox/describe.ts'
import { sampleMessage } from './sample-message.ts'
import { previewText } from './senders/send.ts'
import { reasonTexts } from './templates.ts'

const reasons = Object.keys(reasonTexts) as [MessageReason, ...MessageReason[]]

/**
 * POST /api/v2/observability/incidents/channels/preview: the texts of a message by templates, as a
 * channel of the type sends them. Nothing is sent.
 */
export function previewChannel(deps: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/channels/preview',
    id: 'previewNotification',
    summary: 'Preview the texts of a message',
    audit: 'refusals',
    auth: 'jwt_or_key',
    scope: channelReads,
    body: record('NotificationPreviewRequest', {
      type: channelType.default('webhook').describe('Type of the channel.'),
      templates: templatesSchema.default({}),
      reason: z.enum(reasons).default('opened').describe('Why the message is sent.'),
      incident_id: z
        .string()
        .optional()
        .describe('Id or number of an incident; a made-up one if left out.'),
    }),
    reply: record('NotificationPreview', { title: z.string(), body: z.string() }),
    errors: ['incident_not_found', 'store_unavailable'],
    handle: async ({ body: { type, templates, reason, incident_id }, caller: { project_id } }) => {
      const message = await messageOf(deps, project_id, { reason, incident_id })
      return previewText(type, message, templates)
    },
  })
}

async function messageOf(
  { db, clock, public_url }: ChannelRoutesDeps,
  project_id: string,
  { reason, incident_id }: { reason: MessageReason; incident_id: string | undefined },
): Promise<Message> {
  const now_ms = clock.now_ms()
  if (incident_id === undefined) {
    return sampleMessage(reason, { project_id, incident_id: newId(), now_ms })
  }
  const row = await findIncident(db, project_id, incident_id)
  const at = new Date(now_ms).toISOString()
  const message = { reason, at, note: null, incident: toIncidentView(row) }
  return described(message, { db, public_url })
}
