import { z } from 'zod'
import { textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import type { Route } from '../../../platform/http/index.ts'
import { declaredBy } from '../../access/index.ts'
import { namedDocumentRoutes } from '../../documents/index.ts'
import { rulesOfChange } from './change-channel.ts'
import { channelFields, channelSchema, checkChannel } from './channel.ts'
import { toChannelReply } from './channel-reply.ts'
import { type ChannelRoutesDeps, channelReads } from './contract.ts'

export const channelPath = z.strictObject({
  channel_id: z.string().describe('Id of the channel.'),
})

/**
 * Routes of notification channels. Replies have no secrets, and PUT keeps the ones that the body
 * leaves out. `disabled: false` enables a channel that its receiver ended. Messages that wait for a
 * deleted channel are dead with the next attempt.
 */
export function notificationChannelRoutes(deps: ChannelRoutesDeps): Route[] {
  return namedDocumentRoutes(deps, {
    ...rulesOfChange(deps),
    url: '/api/v2/observability/incidents/channels',
    item_url: '/api/v2/observability/incidents/channels/{channel_id}',
    list: {
      id: 'listNotificationChannels',
      summary: 'Notification channels, newest first',
      reply: 'NotificationChannelList',
      field: 'channels',
      filter: { name: textParameter('Only the channel with this name.', 63) },
    },
    create: {
      id: 'createNotificationChannel',
      summary: 'Create a notification channel',
      again: 'The resource declares the channel already; the answer is that channel.',
    },
    get: { id: 'getNotificationChannel', summary: 'Read a notification channel' },
    put: { id: 'putNotificationChannel', summary: 'Replace a notification channel' },
    delete: { id: 'deleteNotificationChannel', summary: 'Delete a notification channel' },
    reads: channelReads,
    writes: { level: 'project', role: 'admin', key: null, operator: true },
    body: record('NotificationChannelRequest', {
      ...channelFields,
      managed_by: declaredBy,
    }).superRefine(checkChannel),
    reply: channelSchema,
    errors: ['name_taken'],
    shown_once: ['generated_secret'],
    toReplies: async (channels, { kind }) =>
      channels.map((channel) => toChannelReply(channel, deps, kind === 'operator')),
  })
}
