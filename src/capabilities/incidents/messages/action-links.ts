import { type LinkAction, signLink } from './link-token.ts'
import { isEnd, type Message, type MessageLinks } from './message.ts'

/** The links of a message that answer its incident. */
export type ActionLinks = Pick<MessageLinks, LinkAction>

const lifetime_s = 7 * 24 * 3600

/**
 * Returns the links of a message that acknowledge, resolve and snooze its incident: none for an end,
 * and no acknowledgement of an acknowledged incident. The token is in the fragment, which browsers do
 * not send to servers, so that proxies do not log it.
 */
export function actionLinks(
  { id: message_id, message }: { id: string; message: Message },
  { public_url, secret_key }: { public_url: string; secret_key: string },
): ActionLinks {
  const { project_id, state } = message.incident
  if (isEnd(message.reason) || state === 'resolved') return {}
  const expires_s = Math.ceil(Date.parse(message.at) / 1000) + lifetime_s
  const link = (action: LinkAction) => {
    const token = signLink({ action, project_id, message_id, expires_s }, secret_key)
    return `${public_url.replace(/\/$/, '')}/incident#token=${token}`
  }
  return {
    ...(state === 'open' && { ack: link('ack') }),
    resolve: link('resolve'),
    snooze: link('snooze'),
  }
}
