import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { messageSchema, toMessageReply } from './deliveries.ts'
import { isOvertaken, resendMessage } from './deliveries-store.ts'

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
