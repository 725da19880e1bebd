import type {
  ChannelType,
  NotificationChannel,
  NotificationChannelRequest,
} from '../../api/schema.gen.d.ts'

/** Kinds of receivers, with what people read. */
export const channelTypes = [
  ['webhook', 'Webhook'],
  ['slack', 'Slack'],
  ['pagerduty', 'PagerDuty'],
  ['alertmanager', 'Alertmanager'],
  ['email', 'E-mail'],
] as const

/** A channel as it is edited. Secrets are write-only: an empty text keeps the stored one. */
export type Draft = {
  name: string
  type: ChannelType
  url: string
  /** Secrets by their name in the section of the API. */
  secrets: Readonly<Record<string, string>>
  /** Of Slack: a bot posts to this channel; empty for an incoming webhook. */
  channel: string
  to: string
  answerLinks: boolean
  fallback: string
  disabled: boolean
  title: string
  body: string
}

/** Secrets of each type: the field of the API, what people read, and a hint. */
export const secretFields: Readonly<
  Record<ChannelType, readonly (readonly [field: string, label: string, hint: string])[]>
> = {
  webhook: [
    ['secret', 'Signing secret', 'Such as whsec_…. Without one, it is generated and shown once.'],
  ],
  slack: [
    ['token', 'Token of the bot', 'xoxb-…, with the scope chat:write.'],
    ['webhook_url', 'Incoming webhook', 'The whole address is a secret.'],
  ],
  pagerduty: [['routing_key', 'Integration key', 'Of an integration with Events API v2.']],
  alertmanager: [['authorization', 'Value of Authorization', 'Such as Bearer …; optional.']],
  email: [],
}

/** Returns an empty draft. */
export function newDraft(): Draft {
  return {
    name: '',
    type: 'webhook',
    url: '',
    secrets: {},
    channel: '',
    to: '',
    answerLinks: true,
    fallback: '',
    disabled: false,
    title: '',
    body: '',
  }
}

/**
 * Returns the draft of a stored channel. The path of a webhook is not shown by the API, so its URL is
 * empty: it is kept unless a new one is typed.
 */
export function draftOf(stored: NotificationChannel): Draft {
  const { type, slack, pagerduty, alertmanager, email } = stored
  return {
    name: stored.name,
    type,
    url: pagerduty?.url ?? alertmanager?.url ?? '',
    secrets: {},
    channel: slack?.channel ?? '',
    to: email?.to.join(', ') ?? '',
    answerLinks: slack?.answer_links ?? email?.answer_links ?? true,
    fallback: stored.fallback ?? '',
    disabled: stored.disabled,
    title: stored.templates.title ?? '',
    body: stored.templates.body ?? '',
  }
}

/** Returns the body for the API. Empty secrets are left out, which keeps the stored ones. */
export function requestOf(draft: Draft): NotificationChannelRequest {
  const { name, type, fallback, disabled, title, body } = draft
  const templates = { ...(title !== '' && { title }), ...(body !== '' && { body }) }
  return {
    name,
    [type]: sectionOf(draft),
    fallback: fallback === '' ? null : fallback,
    disabled,
    templates,
  }
}

function sectionOf({ type, url, secrets, channel, to, answerLinks }: Draft): object {
  const known = secretFields[type].flatMap(([field]) => {
    const value = secrets[field] ?? ''
    return value === '' ? [] : [[field, value] as const]
  })
  const given = { ...Object.fromEntries(known), ...(url !== '' && { url }) }
  switch (type) {
    case 'slack': {
      const { url: _, ...secret } = { url: '', ...given }
      return { ...secret, ...(channel !== '' && { channel }), answer_links: answerLinks }
    }
    case 'email':
      return { to: splitAddresses(to), answer_links: answerLinks }
    default:
      return given
  }
}

function splitAddresses(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
}
