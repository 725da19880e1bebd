import type { z } from 'zod'
import { type channelSchema, secretFields } from './channel.ts'
import { configOf, openChannel, type StoredChannel } from './channel-secrets.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { maskUrl } from './merge-section.ts'

type ChannelReply = z.input<typeof channelSchema>

type ReplyDeps = Pick<ChannelRoutesDeps, 'secret_key' | 'mailer'>

/** Returns a channel as replies show it: no secret, and URLs that may hold one without their path. */
export function toChannelReply(
  row: StoredChannel,
  { secret_key, mailer }: ReplyDeps,
  is_operator: boolean,
): ChannelReply {
  const { id: channel_id, name, type, fallback, version } = row
  const { disabled_at, disabled_reason, created_at, updated_at, updated_by } = row
  const { section, templates } = configOf(row)
  const fields = secretFields[type].map((field) => {
    return [field, { set: Object.hasOwn(row.secrets, field) }] as const
  })
  return {
    ...{ channel_id, name, type, fallback },
    [type]: { ...section, ...shownUrl(row, secret_key, is_operator) },
    secrets: Object.fromEntries(fields),
    ...{ disabled: disabled_at !== null, disabled_at, disabled_reason },
    unusable_reason: type === 'email' && !mailer.configured ? 'mail_not_configured' : null,
    ...{ templates, version, created_at, updated_at, updated_by },
    managed_by: row.managed_by,
  }
}

/** Returns the visible part of a URL that is sealed. An operator compares it with the resource. */
function shownUrl(row: StoredChannel, secret_key: string | undefined, is_operator: boolean) {
  if (row.type !== 'webhook' && row.type !== 'slack') return {}
  const opened = openChannel(row, secret_key)
  const section = 'unreadable' in opened ? {} : opened.section
  if (row.type === 'webhook') {
    const { url } = section as { url?: string }
    // An operator compares only the URLs of its resources.
    const isWhole = is_operator && row.managed_by !== null
    return { url: url === undefined || isWhole ? (url ?? null) : maskUrl(url) }
  }
  if (!Object.hasOwn(row.secrets, 'webhook_url')) return {}
  const { webhook_url } = section as { webhook_url?: string }
  return { webhook_host: URL.parse(webhook_url ?? '')?.origin ?? null }
}
