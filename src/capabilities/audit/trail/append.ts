import type { AuditEntry } from '../../../model/audit-entry.ts'
import type { AuditStatement } from '../../../platform/audit/index.ts'
import {
  type AuditTables,
  type Kysely,
  sql,
  storableText,
} from '../../../platform/relational/index.ts'
import { commitTo, createDetail, type Detail, type DetailPart } from '../chain/commitment.ts'
import { encodeRecord, type RecordFields } from '../chain/record.ts'
import { chainOf } from './chain-id.ts'

type Db = Kysely<AuditTables>

/** A segment of reads, for the record that seals it. */
export type Segment = { count: number; hash: string }

/**
 * Returns the one statement that advances the chain and inserts the record. PostgreSQL computes the
 * hash from the bytes of the record and the position that it locks, so the lock on the chain is
 * held for this statement and the commit only.
 */
export function toAppendStatement(db: Db, entry: AuditEntry, segment?: Segment): AuditStatement {
  const origin = detailOf(entry.origin)
  const change = detailOf(entry.change)
  const fields = toFields(entry, { origin, change, segment })
  const body = encodeRecord(fields)
  const hash = (seq: ReturnType<typeof sql>, previous: ReturnType<typeof sql>) =>
    sql`sha256(${body}::bytea || int8send(${seq}) || ${previous})`
  const first = hash(sql`1::bigint`, sql`decode(repeat('00', 32), 'hex')`)
  const next = hash(sql`chain.seq + 1`, sql`chain.hash`)
  const { sql: text, parameters } = sql`
    with head as (
      insert into audit_chains as chain (chain_id, seq, hash)
      values (${fields.chain_id}::uuid, 1, ${first})
      on conflict (chain_id) do update set seq = chain.seq + 1, hash = ${next}
      returning seq, hash
    )
    insert into audit_records (
      chain_id, recorded_at, action, outcome, code, actor_kind, actor_id, via, resource_type,
      resource_id, project_id, request_id, suppressed, segment_count, segment_hash,
      origin_hash, origin_salt, origin_value, change_hash, change_salt, change_value, seq, hash
    )
    select ${fields.chain_id}::uuid, ${fields.recorded_at}::timestamptz, ${fields.action},
      ${fields.outcome}, ${fields.code}::text, ${fields.actor_kind}, ${fields.actor_id}::text,
      ${fields.via}, ${fields.resource_type}, ${fields.resource_id}::text,
      ${fields.project_id}::uuid, ${fields.request_id}, ${fields.suppressed}::integer,
      ${fields.segment_count}::integer, ${bytes(fields.segment_hash)}::bytea,
      ${bytes(fields.origin_hash)}::bytea, ${bytes(origin?.salt)}::bytea, ${origin?.value ?? null}::text,
      ${bytes(fields.change_hash)}::bytea, ${bytes(change?.salt)}::bytea, ${change?.value ?? null}::text,
      seq, hash
    from head
    returning seq`.compile(db)
  return { sql: text, parameters }
}

/** Appends an entry in a transaction of its own, and returns its number. */
export async function appendEntry(db: Db, entry: AuditEntry, segment?: Segment): Promise<number> {
  const { sql: text, parameters } = toAppendStatement(db, entry, segment)
  const { rows } = await db.executeQuery<{ seq: number }>({
    ...sql.raw(text).compile(db),
    parameters,
  })
  return rows[0]?.seq ?? 0
}

function toFields(
  entry: AuditEntry,
  parts: {
    origin: Detail | undefined
    change: Detail | undefined
    segment: Segment | undefined
  },
): RecordFields {
  const { organization_id, origin: _origin, change: _change, ...fields } = entry
  return {
    ...fields,
    chain_id: chainOf(organization_id),
    resource_id: fields.resource_id === null ? null : storableText(fields.resource_id),
    segment_count: parts.segment?.count ?? null,
    segment_hash: parts.segment?.hash ?? null,
    origin_hash: commitmentOf('origin', parts.origin),
    change_hash: commitmentOf('change', parts.change),
  }
}

/**
 * Maximum length of a stored detail, in characters of JSON. A longer detail is stored as its
 * length.
 */
const detailLength_max = 16_384

/** Returns the detail of a value; undefined for null. */
export function detailOf(value: unknown): Detail | undefined {
  if (value === null) return undefined
  const detail = createDetail(value)
  const isTooLong = detail.value.length > detailLength_max
  return isTooLong ? createDetail({ too_long: detail.value.length }) : detail
}

function commitmentOf(part: DetailPart, detail: Detail | undefined): string | null {
  return detail === undefined ? null : commitTo(part, detail)
}

function bytes(hex: string | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : Buffer.from(hex, 'hex')
}
