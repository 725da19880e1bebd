import {
  type AuditTables,
  CompiledQuery,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import type { ContentRead } from '../chain/segment.ts'

type Db = Kysely<AuditTables>

/** A read as it is stored before its answer: a row of `audit_reads`, with bytes in hex. */
export type UnsealedRead = ContentRead & {
  id: string
  origin_salt: string | null
  origin_value: string | null
}

/** Most reads of a segment. */
const segment_max = 1_000

/** Deletes the oldest batches of a chain, up to 1,000 reads, and returns their reads by id. */
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
  return parseReads(rows).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

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
  return parseReads(rows).map((read) => ({
    ...read,
    ...{ chain_id, segment_seq: null },
    origin_hash: Buffer.from(read.origin_hash, 'hex'),
    origin_salt: read.origin_salt === null ? null : Buffer.from(read.origin_salt, 'hex'),
  }))
}

/** Returns the reads of batches, in their order. */
export function parseReads(rows: readonly { reads: string }[]): UnsealedRead[] {
  return rows.flatMap(({ reads }) => JSON.parse(reads) as UnsealedRead[])
}
