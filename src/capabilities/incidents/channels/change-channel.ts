import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { isUuid } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { type ManagedBy, type ResourceName, refuseUnlessOwner } from '../../../model/managed-by.ts'
import {
  changedSince,
  type RequestHeaders,
  versionToReplace,
} from '../../../platform/http/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { ChannelType, Templates } from './channel.ts'
import { openChannel, type StoredChannel, sealSecrets } from './channel-secrets.ts'
import { type ChannelRoutesDeps, channelNotFound, channels_max } from './contract.ts'
import { type MergedSection, mergeSection } from './merge-section.ts'
import type { OpenChannel } from './senders/contract.ts'
import {
  changeChannels,
  countChannels,
  deleteChannel,
  findChannelBy,
  findChannelById,
  insertChannel,
  type NewChannel,
  releaseChannel,
  replaceChannel,
  type WhichChannel,
} from './store.ts'

/** A channel as a caller writes it. */
export type ChannelWrite = {
  body: Partial<Record<ChannelType, object | undefined>> & {
    name: string
    fallback: string | null
    disabled: boolean
    templates: Templates
  }
  managed_by: ManagedBy | null
  at: Date
  by: string
}

/** A written channel, and the secret that was generated for it. */
export type WrittenChannel = {
  channel: StoredChannel
  is_new: boolean
  generated_secret?: string | undefined
}

/**
 * Creates a channel, or returns the one that the same resource declares. Throws `name_taken`,
 * `limit_reached`, and `invalid_request` for a missing secret or an address that is not allowed.
 */
export function createChannel(
  deps: ChannelRoutesDeps,
  which: WhichChannel,
  write: ChannelWrite,
): Promise<WrittenChannel> {
  const { project_id } = which
  const { managed_by } = write
  return changeChannels(deps.db, project_id, async (trx) => {
    const declared = managed_by && (await findChannelBy(trx, { project_id, managed_by }))
    if (declared) return { channel: declared, is_new: false }
    await checkName(trx, which, write)
    if ((await countChannels(trx, { project_id })) >= channels_max) {
      const detail = `The project has ${channels_max} channels, the maximum. Delete some first.`
      throw problem('limit_reached', { detail })
    }
    const merged = mergeSection(write.body, undefined)
    checkAddresses(deps, merged)
    const channel = await insertChannel(trx, which, toRow(deps, which, { write, merged }))
    return { channel, is_new: true, generated_secret: merged.generated_secret }
  })
}

/** A channel to change, and the headers with the version that was read. */
type ChangedChannel = WhichChannel & { headers: RequestHeaders }

/**
 * Replaces a channel; secrets that the body leaves out are kept. An equal channel is not written.
 * Throws `channel_not_found`, `managed_by_kubernetes`, `precondition_failed`, `name_taken`, and
 * `invalid_request` for a missing secret or an address that is not allowed.
 */
export function putChannel(
  deps: ChannelRoutesDeps,
  which: ChangedChannel,
  write: ChannelWrite,
): Promise<WrittenChannel> {
  return changeChannels(deps.db, which.project_id, async (trx) => {
    const before = await findUnchanged(trx, which, write.managed_by)
    const opened = openChannel(before, deps.secret_key)
    const known = 'unreadable' in opened ? undefined : opened
    const merged = mergeSection(write.body, known)
    if (known !== undefined && isSame(before, known, { write, merged })) {
      return { channel: before, is_new: false }
    }
    checkAddresses(deps, merged)
    await checkName(trx, which, write)
    const row = toRow(deps, which, { write, merged, before })
    const channel = await replaceChannel(trx, which, row)
    return { channel, is_new: false, generated_secret: merged.generated_secret }
  })
}

/**
 * Deletes a channel, or with `retain` only its declaration. Throws `channel_not_found`,
 * `managed_by_kubernetes`, `permission_denied`, `precondition_failed`.
 */
export function deleteStoredChannel(
  { db }: ChannelRoutesDeps,
  which: ChangedChannel,
  { by, is_operator, retain }: { by: ResourceName | null; is_operator: boolean; retain: boolean },
): Promise<void> {
  return changeChannels(db, which.project_id, async (trx) => {
    const before = await findUnchanged(trx, which, by)
    if (is_operator && before.managed_by === null) {
      const detail = 'No resource declares this channel, so an operator cannot delete it.'
      throw problem('permission_denied', { detail })
    }
    return retain ? releaseChannel(trx, which) : deleteChannel(trx, which)
  })
}

async function findUnchanged(
  trx: IncidentDb,
  { headers, ...which }: ChangedChannel,
  by: ResourceName | null,
): Promise<StoredChannel> {
  const channel = isUuid(which.channel_id) ? await findChannelById(trx, which) : undefined
  if (channel === undefined) throw channelNotFound(which.channel_id)
  refuseUnlessOwner(channel.managed_by as ManagedBy | null, by)
  const version = versionToReplace(headers)
  if (version !== undefined && version !== channel.version) {
    throw changedSince(headers, channel.version)
  }
  return channel
}

/** Throws `name_taken` if another channel has the name. */
async function checkName(
  trx: IncidentDb,
  { project_id, channel_id }: WhichChannel,
  { body: { name }, managed_by }: ChannelWrite,
): Promise<void> {
  const other = await findChannelBy(trx, { project_id, name })
  if (other === undefined || other.id === channel_id) return
  const owner = other.managed_by as ManagedBy | null
  // A namespace learns only the names of its own resources.
  const isNear = owner !== null && owner.namespace === managed_by?.namespace
  const whose = isNear
    ? `the channel of ${owner.kind} ${owner.namespace}/${owner.name}`
    : 'another channel of the project'
  throw problem('name_taken', {
    detail: `name: got "${name}", the name of ${whose}`,
    faults: [{ pointer: '/name', detail: 'already in use' }],
  })
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

type Merged = { write: ChannelWrite; merged: MergedSection; before?: StoredChannel }

function toRow(
  { secret_key }: ChannelRoutesDeps,
  { channel_id }: WhichChannel,
  { write, merged, before }: Merged,
): NewChannel {
  const { name, fallback, disabled, templates } = write.body
  return {
    ...{ name, fallback, type: merged.type },
    config: { section: merged.section, templates },
    secrets: sealSecrets(merged.secrets, { channel_id, secret_key }),
    disabled_at: disabled ? (before?.disabled_at ?? write.at) : null,
    disabled_reason: disabled ? (before?.disabled_reason ?? `by ${write.by}`) : null,
    ...{ managed_by: write.managed_by, at: write.at, updated_by: write.by },
  }
}

/** Returns whether a write would change nothing. */
function isSame(
  before: StoredChannel,
  { section }: OpenChannel,
  { write, merged }: Merged,
): boolean {
  const { name, fallback, disabled, templates } = write.body
  const { config, managed_by } = before
  const one = [before.name, before.type, before.fallback, before.disabled_at !== null, section]
  const other = [name, merged.type, fallback, disabled, { ...merged.section, ...merged.secrets }]
  return (
    canonicalJson([...one, config['templates'], managed_by]) ===
    canonicalJson([...other, templates, write.managed_by])
  )
}
