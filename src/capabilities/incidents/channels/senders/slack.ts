import type { Severity } from '../../../../model/severity.ts'
import { isEnd, type Message } from '../../messages/message.ts'
import { textOf, titleOfSeveral } from '../message-text.ts'
import type { Escape } from '../templates.ts'
import {
  fieldOf,
  type OpenChannel,
  type Outgoing,
  type Send,
  type SenderPorts,
  type Sent,
} from './contract.ts'
import { postJson } from './post-json.ts'

/**
 * Sends messages to Slack. An incoming webhook posts the messages of a rule together. A bot edits its
 * first message of an incident, so that it shows the state, and answers below it.
 */
export const sendSlack: Send = (messages, channel, ports) => {
  return fieldOf(channel, 'webhook_url') === ''
    ? sendAsBot(messages, channel, ports)
    : sendToWebhook(messages, channel, ports)
}

/** Escapes the characters of mentions and links, such as `<!channel>` and `<https://…|text>`. */
export const escapeMrkdwn: Escape = Object.assign(escapeText, {
  link: (url: string, text?: string) =>
    `<${escapeText(url).replaceAll('|', '%7C')}${text === undefined ? '' : `|${text}`}>`,
})

function escapeText(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Options that turn off automatic links and mentions by name. */
const unlinked = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }

const marks: Readonly<Record<Severity, string>> = {
  info: ':large_blue_circle:',
  low: ':large_yellow_circle:',
  medium: ':large_orange_circle:',
  high: ':red_circle:',
  critical: ':rotating_light:',
}

function markdownOf(message: Message, { templates }: OpenChannel): string {
  const { title, body } = textOf(message, templates, escapeMrkdwn)
  const { incident, reason } = message
  const mark = isEnd(reason) ? ':white_check_mark:' : marks[incident.severity]
  return `${mark} *${title.replaceAll('*', '∗')}*\n${body}`
}

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function sendToWebhook(
  messages: readonly Outgoing[],
  channel: OpenChannel,
  ports: SenderPorts,
): Promise<Sent> {
  const all = messages.map(({ message }) => message)
  const texts = all.map((message) => markdownOf(message, channel))
  const text =
    texts.length === 1 ? texts.join('') : [titleOfSeveral(all, escapeMrkdwn), ...texts].join('\n\n')
  const body = JSON.stringify({ text, ...unlinked })
  return postJson({ url: fieldOf(channel, 'webhook_url'), body }, ports)
}

/** A message that Slack knows: the id of the channel, and the timestamp. */
type Posted = { channel: string; ts: string }

/** https://docs.slack.dev/reference/methods/chat.postMessage */
async function sendAsBot(
  [first]: readonly Outgoing[],
  channel: OpenChannel,
  ports: SenderPorts,
): Promise<Sent> {
  if (first === undefined) throw new Error('a post needs a message')
  const { message } = first
  const text = markdownOf(message, channel)
  const call = (method: string, body: object) =>
    callSlack(method, { text, ...body }, channel, ports)
  const thread = first.thread === null ? undefined : (JSON.parse(first.thread) as Posted)
  if (thread !== undefined) {
    const edited = await call('chat.update', thread)
    const isGone = edited.error?.includes('message_not_found') === true
    // The end needs no second message; the others must be noticed, and an edit is silent.
    if (!isGone && (edited.error !== null || isEnd(message.reason))) return edited
    if (!isGone) {
      const { channel: to, ts } = thread
      return call('chat.postMessage', { channel: to, thread_ts: ts, reply_broadcast: true })
    }
  }
  const { posted, ...sent } = await call('chat.postMessage', {
    channel: fieldOf(channel, 'channel'),
  })
  if (posted === undefined || first.is_test === true) return sent
  return { ...sent, threads: new Map([[message.incident.incident_id, JSON.stringify(posted)]]) }
}

async function callSlack(
  method: string,
  body: object,
  channel: OpenChannel,
  ports: SenderPorts,
): Promise<Sent & { posted?: Posted }> {
  const { reply, ...sent } = await postJson(
    {
      url: `${ports.slack_api ?? 'https://slack.com/api'}/${method}`,
      body: JSON.stringify({ ...unlinked, ...body }),
      headers: { authorization: `Bearer ${fieldOf(channel, 'token')}` },
    },
    ports,
  )
  if (reply === undefined || sent.error !== null) return sent
  const { ok, error, channel: id, ts } = parseAnswer(sent.response)
  if (ok !== true) return { ...sent, ...refusalOf(typeof error === 'string' ? error : 'no JSON') }
  return typeof id === 'string' && typeof ts === 'string'
    ? { ...sent, posted: { channel: id, ts } }
    : sent
}

function parseAnswer(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Errors that another attempt may not have. Slack answers 200 for errors too. */
const passing =
  /^(ratelimited|rate_limited|internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org|no JSON)$/

function refusalOf(code: string): Pick<Sent, 'result' | 'error'> {
  const error = `Slack answered ${code.slice(0, 80)}`
  return { result: { status: passing.test(code) ? 503 : 400 }, error }
}
