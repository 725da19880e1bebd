import type { ManagedBy, ResourceName } from '../../../model/managed-by.ts'
import { ownedBy, sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { StoredChannel } from './channel-secrets.ts'

/** Names a channel of a project. */
export type WhichChannel = { project_id: string; channel_id: string }

/** Filters of a list of channels. */
export type ChannelFilter = {
  project_id: string
  name?: string | undefined
  managed_by?: ResourceName | undefined
}

/**
 * Does work that changes the channels of a project, in a transaction. Changes of one project wait
 * for each other, so that two of them cannot exceed the limit.
 */
export function changeChannels<T>(
  db: IncidentDb,
  project_id: string,
  work: (trx: IncidentDb) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const lock = `looptrace.notification_channels ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    return work(trx)
  })
}

/** Finds a channel of a project. */
export function findChannelById(
  db: IncidentDb,
  { project_id, channel_id }: WhichChannel,
): Promise<StoredChannel | undefined> {
  return channelsOf(db, { project_id }).where('id', '=', channel_id).executeTakeFirst()
}

/** Finds the channel that has a name, or that a resource declares. */
export function findChannelBy(
  db: IncidentDb,
  filter: ChannelFilter,
): Promise<StoredChannel | undefined> {
  return channelsOf(db, filter).executeTakeFirst()
}

/** Returns a page of channels, newest first, and counts all that match. */
export async function selectChannels(
  db: IncidentDb,
  filter: ChannelFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<{ rows: StoredChannel[]; counted: number }> {
  const rows = await channelsOf(db, filter)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return { rows, counted: await countChannels(db, filter) }
}

/** Counts channels, of which a project has few. */
export async function countChannels(db: IncidentDb, filter: ChannelFilter): Promise<number> {
  const { n } = await db
    .selectFrom(channelsOf(db, filter).as('found'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

function channelsOf(db: IncidentDb, { project_id, name, managed_by }: ChannelFilter) {
  return db
    .selectFrom('notification_channels')
    .selectAll()
    .where('project_id', '=', project_id)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .$if(managed_by !== undefined, (query) =>
      managed_by ? query.where(ownedBy(managed_by)) : query,
    )
}

/** A channel to write; its secrets are sealed. */
export type NewChannel = Pick<
  StoredChannel,
  'name' | 'type' | 'config' | 'secrets' | 'fallback' | 'disabled_reason' | 'updated_by'
> & { managed_by: ManagedBy | null; disabled_at: Date | string | null; at: Date }

/** Inserts a channel; its name must be unused. */
export function insertChannel(
  trx: IncidentDb,
  { project_id, channel_id: id }: WhichChannel,
  channel: NewChannel,
): Promise<StoredChannel> {
  return trx
    .insertInto('notification_channels')
    .values({ id, project_id, version: 1, created_at: channel.at, ...toColumns(channel) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Replaces a channel; its name must be unused by others. */
export function replaceChannel(
  trx: IncidentDb,
  { project_id, channel_id }: WhichChannel,
  channel: NewChannel,
): Promise<StoredChannel> {
  return trx
    .updateTable('notification_channels')
    .set({ ...toColumns(channel), version: sql<number>`version + 1` })
    .where('project_id', '=', project_id)
    .where('id', '=', channel_id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Removes the declaration of a channel by a resource. */
export async function releaseChannel(
  trx: IncidentDb,
  { project_id, channel_id }: WhichChannel,
): Promise<void> {
  await trx
    .updateTable('notification_channels')
    .set({ managed_by: null })
    .where('project_id', '=', project_id)
    .where('id', '=', channel_id)
    .execute()
}

/** Deletes a channel. Its messages that wait are dead with the next attempt. */
export async function deleteChannel(
  trx: IncidentDb,
  { project_id, channel_id }: WhichChannel,
): Promise<void> {
  await trx
    .deleteFrom('notification_channels')
    .where('project_id', '=', project_id)
    .where('id', '=', channel_id)
    .execute()
}

function toColumns({ at, config, secrets, managed_by, ...channel }: NewChannel) {
  return {
    ...channel,
    config: JSON.stringify(config),
    secrets: JSON.stringify(secrets),
    managed_by: managed_by && JSON.stringify(managed_by),
    updated_at: at,
  }
}
