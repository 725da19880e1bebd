import type { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { problem } from '../../../kernel/problem.ts'
import { textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import type { Route } from '../../../platform/http/index.ts'
import { declaredBy } from '../../access/index.ts'
import { type ChangeOf, type DocumentRules, namedDocumentRoutes } from '../../documents/index.ts'
import type { IncidentDb } from '../ports.ts'
import {
  type ChannelType,
  channelFields,
  channelSchema,
  checkChannel,
  secretFields,
  type Templates,
} from './channel.ts'
import {
  channelTable,
  configOf,
  openChannel,
  type StoredChannel,
  sealSecrets,
} from './channel-secrets.ts'
import { type ChannelRoutesDeps, channelReads } from './contract.ts'
import { type MergedSection, maskUrl, mergeSection } from './merge-section.ts'
import type { OpenChannel } from './senders/contract.ts'

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

type ChannelReply = z.input<typeof channelSchema>

type ReplyDeps = Pick<ChannelRoutesDeps, 'secret_key' | 'mailer'>

/** Returns a channel as replies show it: no secret, and URLs that may hold one without their path. */
function toChannelReply(
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
    channel_id,
    name,
    type,
    fallback,
    [type]: { ...section, ...shownUrl(row, secret_key, is_operator) },
    secrets: Object.fromEntries(fields),
    disabled: disabled_at !== null,
    disabled_at,
    disabled_reason,
    unusable_reason: type === 'email' && !mailer.configured ? 'mail_not_configured' : null,
    templates,
    version,
    created_at,
    updated_at,
    updated_by,
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

/** A channel as a caller writes it. */
type ChannelSpec = Partial<Record<ChannelType, object | undefined>> & {
  name: string
  fallback: string | null
  disabled: boolean
  templates: Templates
}

type ChannelChange = ChangeOf<StoredChannel, ChannelSpec>

/** Maximum channels of a project. */
const channels_max = 100

/** Returns how channels are changed. */
function rulesOfChange(
  deps: ChannelRoutesDeps,
): DocumentRules<StoredChannel, ChannelSpec, IncidentDb> {
  return {
    table: channelTable,
    title: 'notification channels',
    documents_max: channels_max,
    is_owned: true,
    toColumns: async (_trx, change) => toColumns(deps, change),
  }
}

/**
 * Keeps secrets that the body leaves out. An equal channel is not written. Throws `invalid_request`
 * for a missing secret or an address that is not allowed.
 */
function toColumns(deps: ChannelRoutesDeps, change: ChannelChange) {
  const { id: channel_id, spec, before, at, by } = change
  const { name, fallback, disabled, templates } = spec
  const opened = before && openChannel(before, deps.secret_key)
  const known = opened === undefined || 'unreadable' in opened ? undefined : opened
  const merged = mergeSection(spec, known)
  if (before && known && isSame(before, known, { change, merged })) return undefined
  checkAddresses(deps, merged)
  const columns = {
    name,
    fallback,
    type: merged.type,
    config: { section: merged.section, templates },
    secrets: sealSecrets(merged.secrets, { channel_id, secret_key: deps.secret_key }),
    disabled_at: disabled ? (before?.disabled_at ?? at) : null,
    disabled_reason: disabled ? (before?.disabled_reason ?? `by ${by}`) : null,
  }
  const { generated_secret } = merged
  const shown_once = generated_secret === undefined ? undefined : { generated_secret }
  return { columns, unique: { name }, shown_once }
}

/**
 * Throws `invalid_request` for a URL that is never requested, because its address is not allowed. A
 * name is resolved at each request. The error does not quote the path, which may hold a secret.
 */
function checkAddresses(
  { outbound }: Pick<ChannelRoutesDeps, 'outbound'>,
  { type, section, secrets }: MergedSection,
): void {
  const values = { ...section, ...secrets }
  for (const field of ['url', 'webhook_url']) {
    const url = values[field]
    const fault = typeof url === 'string' ? outbound.refusal(url) : undefined
    if (fault === undefined) continue
    const detail = `${fault.message}. Ask the administrator of the installation about private networks`
    throw problem('invalid_request', {
      detail: `${type}.${field}: ${detail}`,
      faults: [{ pointer: `/${type}/${field}`, detail }],
    })
  }
}

/** Returns whether a write would change nothing. */
function isSame(
  before: StoredChannel,
  { section }: OpenChannel,
  { change, merged }: { change: ChannelChange; merged: MergedSection },
): boolean {
  const { name, fallback, disabled, templates } = change.spec
  const { config, managed_by } = before
  const one = [before.name, before.type, before.fallback, before.disabled_at !== null, section]
  const other = [name, merged.type, fallback, disabled, { ...merged.section, ...merged.secrets }]
  return (
    canonicalJson([...one, config['templates'], managed_by]) ===
    canonicalJson([...other, templates, change.managed_by])
  )
}
