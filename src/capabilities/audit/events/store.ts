import type { AuditOutcome } from '../../../model/audit-entry.ts'
import {
  type AuditTables,
  countUpTo,
  type Kysely,
  type Selectable,
} from '../../../platform/relational/index.ts'
import { selectUnsealed } from '../reads/unsealed-reads.ts'
import type { RecordRow } from './event.ts'

type Db = Kysely<AuditTables>

/** Filters of the records of a chain. Times are ISO 8601. */
export type EventFilter = {
  chain_id: string
  actor_id?: string | undefined
  action?: string | undefined
  resource_type?: string | undefined
  resource_id?: string | undefined
  outcome?: AuditOutcome | undefined
  project_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Returns records of a chain, newest first. */
export function selectEvents(
  db: Db,
  filter: EventFilter,
  page: { before: number | undefined; limit: number },
): Promise<RecordRow[]> {
  const { before } = page
  return matching(db, filter)
    .selectAll()
    .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
    .orderBy('seq', 'desc')
    .limit(page.limit)
    .execute()
}

/** Counts records of a chain, up to `limit`. */
export function countEvents(db: Db, filter: EventFilter, limit: number): Promise<number> {
  return countUpTo(db, matching(db, filter).select('seq'), limit)
}

const equalities = [
  'actor_id',
  'action',
  'resource_type',
  'resource_id',
  'outcome',
  'project_id',
] as const

function matching(db: Db, filter: EventFilter) {
  let query = db.selectFrom('audit_records').where('chain_id', '=', filter.chain_id)
  for (const name of equalities) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  if (filter.from !== undefined) query = query.where('recorded_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('recorded_at', '<', filter.to)
  return query
}

/** Returns records after a number, in the order of the chain. */
export function selectChain(
  db: Db,
  page: { chain_id: string; after: number; limit: number },
): Promise<RecordRow[]> {
  return db
    .selectFrom('audit_records')
    .selectAll()
    .where('chain_id', '=', page.chain_id)
    .where('seq', '>', page.after)
    .orderBy('seq')
    .limit(page.limit)
    .execute()
}

export type ChainRow = Selectable<AuditTables['audit_chains']>
export type CheckpointRow = Selectable<AuditTables['audit_checkpoints']>
export type ReadRow = Selectable<AuditTables['audit_reads']>

/** Returns the position of a chain; undefined before its first record. */
export function findChain(db: Db, chain_id: string): Promise<ChainRow | undefined> {
  return db
    .selectFrom('audit_chains')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .executeTakeFirst()
}

/**
 * Returns the checkpoints of a chain from a number on, in their order. `pruned` adds all statements
 * about deleted prefixes, because later checkpoints refer to them.
 */
export function selectCheckpoints(
  db: Db,
  page: { chain_id: string; from: number; limit: number; pruned?: true },
): Promise<CheckpointRow[]> {
  return db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('chain_id', '=', page.chain_id)
    .where(({ eb, or }) =>
      or([eb('seq', '>=', page.from), ...(page.pruned ? [eb('kind', '=', 'pruned')] : [])]),
    )
    .orderBy('seq')
    .orderBy('kind')
    .limit(page.limit)
    .execute()
}

/** Returns the checkpoints of some records of a chain. */
export function selectCheckpointsAt(
  db: Db,
  { chain_id, seqs }: { chain_id: string; seqs: readonly number[] },
): Promise<CheckpointRow[]> {
  return db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .where('seq', 'in', seqs)
    .execute()
}

/** Returns the largest number of a record of a chain; 0 without records. */
export async function findLastNumber(db: Db, chain_id: string): Promise<number> {
  const row = await db
    .selectFrom('audit_records')
    .select('seq')
    .where('chain_id', '=', chain_id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** Returns the reads that a record seals, in the order of its hash. */
export function selectSegment(
  db: Db,
  { chain_id, seq }: { chain_id: string; seq: number },
): Promise<ReadRow[]> {
  return db
    .selectFrom('audit_reads')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .where('segment_seq', '=', seq)
    .orderBy('id')
    .execute()
}

/**
 * Returns whether the chain has reads that name a record in a range which seals none, or no record.
 * They are not from this service, which stores reads with the record that seals them.
 */
export async function hasStrayReads(
  db: Db,
  { chain_id, after, until }: { chain_id: string; after: number; until: number },
): Promise<boolean> {
  const stray = await db
    .selectFrom('audit_reads as read')
    .leftJoin('audit_records as record', (join) =>
      join
        .onRef('record.chain_id', '=', 'read.chain_id')
        .onRef('record.seq', '=', 'read.segment_seq'),
    )
    .select('read.id')
    .where('read.chain_id', '=', chain_id)
    .where(({ eb, or, between }) =>
      or([between('read.segment_seq', after + 1, until), eb('read.segment_seq', 'is', null)]),
    )
    .where('record.segment_count', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return stray !== undefined
}

/** Filters of the reads of a chain. */
type ReadFilter = {
  chain_id: string
  actor_id?: string | undefined
  resource_id?: string | undefined
}

/** Returns reads of content in a chain, newest first, with those that are not sealed yet. */
export async function selectReads(
  db: Db,
  filter: ReadFilter,
  page: { before: string | undefined; limit: number },
): Promise<ReadRow[]> {
  const { chain_id, actor_id, resource_id } = filter
  const { before } = page
  // Reads that are sealed between the two statements are in both results.
  const unsealed = (await selectUnsealed(db, chain_id)).filter(
    (read) =>
      (actor_id === undefined || read.actor_id === actor_id) &&
      (resource_id === undefined || read.resource_id === resource_id) &&
      (before === undefined || read.id < before),
  )
  const sealed = await db
    .selectFrom('audit_reads')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .$if(actor_id !== undefined, (query) => query.where('actor_id', '=', actor_id ?? ''))
    .$if(resource_id !== undefined, (query) => query.where('resource_id', '=', resource_id ?? ''))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  const rows = new Map([...unsealed, ...sealed].map((row) => [row.id, row]))
  return [...rows.values()].toSorted((a, b) => (a.id > b.id ? -1 : 1)).slice(0, page.limit)
}
