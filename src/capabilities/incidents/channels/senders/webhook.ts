import { signWebhook } from '../../../../platform/outbound/index.ts'
import { plain, textOf } from '../message-text.ts'
import { fieldOf, type OpenChannel, type Outgoing, type Send } from './contract.ts'
import { postJson } from './post-json.ts'

/**
 * Sends one message as a Standard Webhook. The id is stable over retries and re-sends, and each
 * live secret has a signature.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const sendWebhook: Send = async ([first], channel, ports) => {
  if (first === undefined) throw new Error('a webhook needs a message')
  const body = JSON.stringify(payloadOf(first, channel))
  const secrets = [fieldOf(channel, 'secret'), fieldOf(channel, 'previous_secret')]
  return postJson(
    {
      url: fieldOf(channel, 'url'),
      body,
      headers: {
        ...signWebhook({ id: first.id, body, now_ms: ports.now_ms, secrets }),
        'user-agent': 'looptrace-webhooks/1',
      },
    },
    ports,
  )
}

function payloadOf({ message, is_test }: Outgoing, { templates }: OpenChannel): object {
  const { reason, at, note, incident, details = null, links = null } = message
  const { title, body: text } = textOf(message, templates, plain)
  const type = is_test === true ? 'channel.test' : `incident.${reason}`
  return { type, timestamp: at, data: { reason, note, title, text, incident, details, links } }
}
