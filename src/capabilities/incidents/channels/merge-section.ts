import { problem } from '../../../kernel/problem.ts'
import { type ChannelType, channelTypes, type Section, secretFields } from './channel.ts'
import { newSigningSecret } from './channel-secrets.ts'
import type { OpenChannel } from './senders/contract.ts'

/** The body of a channel, as far as its type is concerned. */
export type GivenSections = Partial<Record<ChannelType, object | undefined>>

/** A section to store: secrets apart. */
export type MergedSection = {
  type: ChannelType
  section: Section
  secrets: Record<string, string>
  /** A signing secret that was generated; shown once. */
  generated_secret?: string
}

/**
 * Joins a body with the stored channel: a secret that the body leaves out is kept. A credential is
 * kept only for the server that it was given for. Otherwise a person who may change the URL, but does
 * not know the credential, could have it sent to a server of their own. Throws `invalid_request` if
 * a secret is missing.
 */
export function mergeSection(given: GivenSections, before: OpenChannel | undefined): MergedSection {
  const type = channelTypes.find((one) => given[one] !== undefined) ?? 'webhook'
  const stored = before?.type === type ? before.section : {}
  const values: Section = { ...given[type] }
  const all = mergers[type](values, stored)
  const fields: readonly string[] = secretFields[type]
  const merged: MergedSection = {
    type,
    section: Object.fromEntries(
      Object.entries(all).filter(
        ([field, value]) => !fields.includes(field) && value !== undefined,
      ),
    ),
    secrets: Object.fromEntries(
      fields.flatMap((field) => {
        const value = all[field]
        return typeof value === 'string' ? [[field, value] as const] : []
      }),
    ),
  }
  const isGenerated = type === 'webhook' && merged.secrets['secret'] === undefined
  const generated_secret = isGenerated ? newSigningSecret() : undefined
  if (generated_secret === undefined) return merged
  return { ...merged, secrets: { ...merged.secrets, secret: generated_secret }, generated_secret }
}

const mergers: Readonly<Record<ChannelType, (given: Section, stored: Section) => Section>> = {
  webhook: mergeWebhook,
  slack: mergeSlack,
  pagerduty: (given, stored) => {
    const kept =
      originOf(given['url']) === originOf(stored['url']) ? stored['routing_key'] : undefined
    const routing_key = given['routing_key'] ?? kept
    return { ...given, routing_key: required(routing_key, '/pagerduty/routing_key', urlHint) }
  },
  alertmanager: (given, stored) => {
    const isSame = originOf(given['url']) === originOf(stored['url'])
    if (!isSame && stored['authorization'] !== undefined) {
      required(given['authorization'], '/alertmanager/authorization', urlHint)
    }
    return { ...given, authorization: given['authorization'] ?? stored['authorization'] }
  },
  email: (given) => given,
}

const urlHint = 'The stored value is kept only for the same server.'

function mergeWebhook(given: Section, stored: Section): Section {
  const isMasked = given['url'] !== undefined && given['url'] === maskUrl(stored['url'])
  const url = isMasked ? stored['url'] : (given['url'] ?? stored['url'])
  const secret = given['secret'] ?? stored['secret']
  const isNew = stored['secret'] !== undefined && secret !== stored['secret']
  const kept = isNew ? stored['secret'] : stored['previous_secret']
  const previous = given['previous_secret'] === undefined ? kept : given['previous_secret']
  return {
    url: required(url, '/webhook/url'),
    secret,
    previous_secret: previous === secret ? undefined : previous,
  }
}

function mergeSlack(given: Section, stored: Section): Section {
  const { token, channel, webhook_url, answer_links } = given
  if (channel === undefined && token === undefined) {
    const kept = webhook_url ?? stored['webhook_url']
    return { answer_links, webhook_url: required(kept, '/slack/webhook_url') }
  }
  return {
    answer_links,
    channel: required(channel, '/slack/channel'),
    token: required(token ?? stored['token'], '/slack/token'),
  }
}

function required(value: unknown, pointer: string, hint = ''): unknown {
  if (value !== undefined) return value
  const detail = `expected a value${hint === '' ? '' : `. ${hint}`}`
  throw problem('invalid_request', {
    detail: `${pointer}: ${detail}`,
    faults: [{ pointer, detail }],
  })
}

function originOf(url: unknown): string {
  return URL.parse(String(url))?.origin ?? ''
}

/** Returns a URL without its path and query, which may hold a secret. */
export function maskUrl(url: unknown): string | null {
  const parsed = URL.parse(String(url))
  if (parsed === null) return null
  const isWhole = parsed.pathname === '/' && parsed.search === '' && parsed.hash === ''
  return isWhole ? parsed.origin : `${parsed.origin}/…`
}
