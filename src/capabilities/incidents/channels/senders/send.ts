import { tokensInText } from '../../messages/link-token.ts'
import type { Message } from '../../messages/message.ts'
import { type ChannelType, secretFields, type Templates } from '../channel.ts'
import { type MessageText, plain, textOf } from '../message-text.ts'
import { sendAlertmanager } from './alertmanager.ts'
import {
  fieldOf,
  type OpenChannel,
  type Outgoing,
  type Send,
  type SenderPorts,
  type Sent,
} from './contract.ts'
import { sendEmail } from './email.ts'
import { sendPagerDuty } from './pagerduty.ts'
import { escapeMrkdwn, sendSlack } from './slack.ts'
import { sendWebhook } from './webhook.ts'

const senders: Readonly<Record<ChannelType, Send>> = {
  webhook: sendWebhook,
  slack: sendSlack,
  pagerduty: sendPagerDuty,
  alertmanager: sendAlertmanager,
  email: sendEmail,
}

const response_characters_max = 2000

/** Sends messages to a channel, in one attempt. The outcome quotes no secret of the channel. */
export async function send(
  messages: readonly Outgoing[],
  channel: OpenChannel,
  ports: SenderPorts,
): Promise<Sent> {
  const sent = await senders[channel.type](messages, channel, ports)
  const clean = (text: string) => withoutSecrets(text, channel)
  return {
    ...sent,
    error: sent.error === null ? null : clean(sent.error),
    response: clean(sent.response).slice(0, response_characters_max).toWellFormed(),
  }
}

/** Returns the texts of a message as a channel of the type sends them. */
export function previewText(
  type: ChannelType,
  message: Message,
  templates: Templates,
): MessageText {
  return textOf(message, templates, type === 'slack' ? escapeMrkdwn : plain)
}

/** Whether a channel takes several messages of a rule at once. */
export function takesSeveral({ type, section }: Pick<OpenChannel, 'type' | 'section'>): boolean {
  if (type === 'slack') return section['webhook_url'] !== undefined
  return type === 'alertmanager' || type === 'email'
}

/**
 * Removes secrets that a receiver quotes, also their parts: a path, or a token after `Bearer`. Slack
 * quotes the whole message, with the tokens of its links.
 */
function withoutSecrets(text: string, channel: OpenChannel): string {
  const values = secretFields[channel.type].flatMap((field) => partsOf(fieldOf(channel, field)))
  const long = values.filter((part) => part.length >= 6).flatMap(spellingsOf)
  return long
    .toSorted((one, other) => other.length - one.length)
    .reduce((clean, part) => clean.replaceAll(part, '[secret]'), text)
    .replaceAll(tokensInText, '[secret]')
    .replaceAll('\u0000', '\ufffd')
}

/** Returns the spellings of a secret in URLs, in JSON, also of PHP, and in HTML. */
function spellingsOf(part: string): string[] {
  return [
    part,
    encodeURIComponent(part),
    JSON.stringify(part).slice(1, -1),
    part.replaceAll('/', '\\/'),
    part.replaceAll('&', '&amp;'),
    part.replaceAll('/', '&#x2F;'),
  ]
}

function partsOf(value: string): string[] {
  const url = URL.parse(value)
  if (url !== null) {
    // As decoded, and as written.
    const query = [...url.searchParams.values(), ...url.search.split(/[?&=]/)]
    return [value, url.pathname, url.search, ...query, ...url.pathname.split('/')]
  }
  const [scheme = '', credentials = ''] = value.split(' ')
  const login = scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString() : ''
  const password = login.slice(login.indexOf(':') + 1)
  return [value, ...value.split(' '), value.replace(/^whsec_/, ''), login, password]
}
