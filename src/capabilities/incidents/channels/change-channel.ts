import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { problem } from '../../../kernel/problem.ts'
import type { ChangeOf, DocumentRules } from '../../documents/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { ChannelType, Templates } from './channel.ts'
import { channelTable, openChannel, type StoredChannel, sealSecrets } from './channel-secrets.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { type MergedSection, mergeSection } from './merge-section.ts'
import type { OpenChannel } from './senders/contract.ts'

/** A channel as a caller writes it. */
export type ChannelSpec = Partial<Record<ChannelType, object | undefined>> & {
  name: string
  fallback: string | null
  disabled: boolean
  templates: Templates
}

type ChannelChange = ChangeOf<StoredChannel, ChannelSpec>

/** Maximum channels of a project. */
const channels_max = 100

/** Returns how channels are changed. */
export function rulesOfChange(
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
