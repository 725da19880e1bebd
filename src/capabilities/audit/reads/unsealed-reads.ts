import { newId } from '../../../kernel/ids.ts'
import type { AuditEntry } from '../../../model/audit-entry.ts'
import {
  type AuditTables,
  CompiledQuery,
  type Kysely,
  type Selectable,
  sql,
  storableText,
} from '../../../platform/relational/index.ts'
import { commitTo } from '../chain/commitment.ts'
import type { ContentRead } from '../chain/segment.ts'
import { detailOf } from '../trail/append.ts'

type Db = Kysely<AuditTables>

/** A read as it is written to the disk before its answer: a row of `audit_reads`, with bytes in hex. */
export type UnsealedRead = ContentRead & {
  id: string
  origin_salt: string | null
  origin_value: string | null
}

/** Returns the read of an entry, with a new id. */
export function toUnsealed(entry: AuditEntry): UnsealedRead {
  const origin = detailOf(entry.origin ?? {}) ?? { salt: '', value: '' }
  return {
    id: newId(),
    read_at: entry.recorded_at,
    action: entry.action,
    actor_kind: entry.actor_kind,
    actor_id: entry.actor_id ?? '',
    via: entry.via,
    resource_type: entry.resource_type,
    resource_id: entry.resource_id === null ? null : storableText(entry.resource_id),
    project_id: entry.project_id,
    request_id: entry.request_id,
    origin_hash: commitTo('origin', origin),
    origin_salt: origin.salt,
    origin_value: origin.value,
  }
}

/** Most reads of a segment. */
const segment_max = 1_000

/**
 * Deletes the oldest batches of a chain, up to 1,000 reads, and returns their reads by id. Leaves
 * out reads that are sealed already, which a repeated upload of a journal brings again.
 */
export async function takeUnsealed(db: Db, chain_id: string): Promise<UnsealedRead[]> {
  const { rows } = await sql<{ reads: string }>`
    delete from audit_read_batches where id in (
      select id from (
        select id, sum(read_count) over (order by id) as total from (
          select id, read_count from audit_read_batches
          where chain_id = ${chain_id}::uuid order by id limit ${segment_max}
        ) as oldest
      ) as counted
      where total <= ${segment_max}
    ) returning reads`.execute(db)
  const reads = new Map(parseReads(rows).map((read) => [read.id, read]))
  if (reads.size === 0) return []
  const sealed = await sql<{ id: string }>`
    select id from audit_reads where id = any(${[...reads.keys()]}::uuid[])`.execute(db)
  for (const { id } of sealed.rows) reads.delete(id)
  const left = [...reads.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return withoutErased(db, chain_id, left)
}

/**
 * Returns the reads without the origins of persons that were erased after the read, while it was in
 * a journal.
 */
async function withoutErased(
  db: Db,
  chain_id: string,
  reads: readonly UnsealedRead[],
): Promise<UnsealedRead[]> {
  const actors = [...new Set(reads.map(({ actor_id }) => actor_id))]
  const { rows } = await sql<{ user_id: string; erased_at: string }>`
    select user_id, erased_at from audit_erasures
    where chain_id = ${chain_id}::uuid and user_id = any(${actors}::text[])`.execute(db)
  const erased = new Map(rows.map(({ user_id, erased_at }) => [user_id, Date.parse(erased_at)]))
  return reads.map((read) => {
    const isErased = Date.parse(read.read_at) <= (erased.get(read.actor_id) ?? 0)
    return isErased ? { ...read, origin_salt: null, origin_value: null } : read
  })
}

/**
 * Waits until no worker seals reads of the chain; none does until the end of the transaction.
 */
export async function lockSealing<T extends AuditTables>(
  db: Kysely<T>,
  chain_id: string,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${lockName(chain_id)}, 0))`.execute(db)
}

/** Locks the reads of a chain for sealing. Returns false if they are locked. */
export async function tryLockSealing(db: Db, chain_id: string): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${lockName(chain_id)}, 0)) as mine`.execute(
    db,
  )
  return rows[0]?.mine === true
}

const lockName = (chain_id: string) => `looptrace.audit_reads ${chain_id}`

/** Inserts reads with the number of the record that seals them. */
export async function insertSealed(
  db: Db,
  reads: readonly UnsealedRead[],
  { chain_id, seq }: { chain_id: string; seq: number },
): Promise<void> {
  await db.executeQuery(
    CompiledQuery.raw(insertText, [JSON.stringify(reads), chain_id, String(seq)]),
  )
}

const insertText = `
  insert into audit_reads (
    chain_id, segment_seq, id, read_at, action, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, origin_hash, origin_salt, origin_value
  )
  select $2::uuid, $3::bigint, id, read_at, action, actor_kind, actor_id, via, resource_type,
    resource_id, project_id, request_id, decode(origin_hash, 'hex'), decode(origin_salt, 'hex'),
    origin_value
  from json_to_recordset($1::json) as read (
    id uuid, read_at timestamptz, action text, actor_kind text, actor_id text, via text,
    resource_type text, resource_id text, project_id uuid, request_id text,
    origin_hash text, origin_salt text, origin_value text
  )`

/**
 * Returns the unsealed reads of a chain as rows of `audit_reads`. They are those of the last second
 * or, if no worker runs, the newest 1,000 batches.
 */
export async function selectUnsealed(
  db: Db,
  chain_id: string,
): Promise<Selectable<AuditTables['audit_reads']>[]> {
  const rows = await db
    .selectFrom('audit_read_batches')
    .select('reads')
    .where('chain_id', '=', chain_id)
    .orderBy('id', 'desc')
    .limit(segment_max)
    .execute()
  const reads = await withoutErased(db, chain_id, parseReads(rows))
  return reads.map((read) => ({
    ...read,
    chain_id,
    segment_seq: null,
    origin_hash: Buffer.from(read.origin_hash, 'hex'),
    origin_salt: read.origin_salt === null ? null : Buffer.from(read.origin_salt, 'hex'),
  }))
}

/** Returns the reads of batches, in their order. */
export function parseReads(rows: readonly { reads: string }[]): UnsealedRead[] {
  return rows.flatMap(({ reads }) => JSON.parse(reads) as UnsealedRead[])
}
