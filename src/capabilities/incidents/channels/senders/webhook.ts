import { createHmac } from 'node:crypto'
import { signingBytes } from '../channel.ts'
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
  const timestamp = String(Math.floor(ports.now_ms / 1000))
  const secrets = [fieldOf(channel, 'secret'), fieldOf(channel, 'previous_secret')]
  const signed = `${first.id}.${timestamp}.${body}`
  const signatures = secrets.filter((secret) => secret !== '').map((one) => sign(signed, one))
  return postJson(
    {
      url: fieldOf(channel, 'url'),
      body,
      headers: {
        'webhook-id': first.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
        'user-agent': 'looptrace-webhooks/1',
      },
    },
    ports,
  )
}

function sign(signed: string, secret: string): string {
  const digest = createHmac('sha256', signingBytes(secret)).update(signed).digest('base64')
  return `v1,${digest}`
}

function payloadOf({ message, is_test }: Outgoing, { templates }: OpenChannel): object {
  const { reason, at, note, incident } = message
  const { title, body: text } = textOf(message, templates, plain)
  const type = is_test === true ? 'channel.test' : `incident.${reason}`
  return { type, timestamp: at, data: { reason, note, title, text, incident } }
}
