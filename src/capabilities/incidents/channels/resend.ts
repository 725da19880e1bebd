import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { messageSchema, toMessageReply } from './deliveries.ts'
import { resendMessage } from './deliveries-store.ts'

/**
 * POST /api/v2/observability/incidents/deliveries/{message_id}/resend: sends a message again, with
 * the same id, now. It has all attempts again.
 */
export function resendNotification({ db }: ChannelRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/deliveries/{message_id}/resend',
    id: 'resendNotification',
    summary: 'Send a message again, with the same id',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'incidents:write' },
    rate_per_minute_max: 60,
    params: z.strictObject({ message_id: z.string().describe('Id of the message.') }),
    reply: messageSchema,
    errors: ['message_not_found', 'store_unavailable'],
    handle: async ({ params: { message_id }, caller: { project_id } }) => {
      const row = isUuid(message_id)
        ? await resendMessage(db, { project_id, message_id })
        : undefined
      if (row !== undefined) return toMessageReply(row)
      throw problem('message_not_found', {
        detail: `message_id: got "${message_id.slice(0, 80)}", expected the id of a message of this project`,
      })
    },
  })
}
