import { randomBytes } from 'node:crypto'
import { openSealed, type SealedFor, sealValue } from '../../../kernel/sealed-value.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import type { IncidentTables, Selectable } from '../../../platform/relational/index.ts'
import { NamedTable } from '../../documents/index.ts'
import type { Section, Templates } from './channel.ts'
import type { OpenChannel } from './senders/contract.ts'

/** A stored channel. Its secrets are sealed. */
export type StoredChannel = Omit<
  Selectable<IncidentTables['notification_channels']>,
  'managed_by'
> & { managed_by: ManagedBy | null }

/** The table of channels. */
export const channelTable = new NamedTable<StoredChannel>('notification_channels', {
  json: ['config', 'secrets', 'managed_by'],
  noun: 'channel',
  not_found: 'channel_not_found',
})

/** The column `config` of a stored channel. */
export type StoredConfig = { section: Section; templates: Templates }

export function configOf({ config }: Pick<StoredChannel, 'config'>): StoredConfig {
  return config as unknown as StoredConfig
}

/** Seals the secrets of a channel, by field. The id and the field are part of each seal. */
export function sealSecrets(
  secrets: Readonly<Record<string, string>>,
  about: { channel_id: string; secret_key: string },
): Record<string, string> {
  const sealed = Object.entries(secrets).map(([field, value]) => {
    const plain = Buffer.from(value)
    return [field, sealValue(plain, sealedFor(about, field)).toString('base64')] as const
  })
  return Object.fromEntries(sealed)
}

/** Returns a stored channel with its secrets, or why they cannot be read. */
export function openChannel(
  row: StoredChannel,
  secret_key: string | undefined,
): OpenChannel | { unreadable: string } {
  const { section, templates } = configOf(row)
  const opened: Record<string, unknown> = { ...section }
  const fields = Object.entries(row.secrets)
  if (fields.length > 0 && secret_key === undefined) return { unreadable: noKey }
  for (const [field, sealed] of fields) {
    const about = sealedFor({ channel_id: row.id, secret_key: secret_key ?? '' }, field)
    const plain = openSealed(Buffer.from(sealed, 'base64'), about)
    if (plain === undefined) return { unreadable: otherKey }
    opened[field] = plain.toString()
  }
  const { id: channel_id, name, type } = row
  return { channel_id, name, type, section: opened, templates }
}

const noKey =
  'the worker has no secret key, so it cannot read the secrets of the channel. Set LOOPTRACE_SECRET_KEY for workers, as for the API'

const otherKey =
  'the secrets of the channel were stored with another LOOPTRACE_SECRET_KEY. Write the channel again with its secrets'

/** Generates a signing secret: 32 random bytes. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

function sealedFor(
  { channel_id, secret_key }: { channel_id: string; secret_key: string },
  field: string,
): SealedFor {
  return { secret_key, purpose: 'channel secrets', about: `${channel_id} ${field}` }
}
