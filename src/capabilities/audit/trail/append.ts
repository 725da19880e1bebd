import type { AuditEntry } from '../../../model/audit-entry.ts'
import type { AuditStatement } from '../../../platform/audit/index.ts'
import {
  type AccessTables,
  type AuditTables,
  CompiledQuery,
  type Kysely,
  storableText,
} from '../../../platform/relational/index.ts'
import { commitTo, createDetail, type Detail, type DetailPart } from '../chain/commitment.ts'
import { encodeRecord, type RecordFields } from '../chain/record.ts'
import { chainOf } from './chain-id.ts'

type Db = Kysely<AuditTables>

/** The database of the audit trail. */
export type AuditDb = Kysely<AccessTables & AuditTables>

/** A segment of reads, for the record that seals it. */
export type Segment = { count: number; hash: string }

/**
 * Returns the statement that advances the chain and inserts the record, if its transaction wrote
 * anything. A function of the database runs both, so the row of the chain is locked for one round
 * trip and the commit only. The function computes the hash from the bytes of the record and the
 * position that it locks.
 */
export function toAppendStatement(entry: AuditEntry): AuditStatement {
  const text = `${appendText} where pg_current_xact_id_if_assigned() is not null`
  return { name: 'append_record', text, values: toParameters(entry) }
}

/** Appends an entry in a transaction of its own, and returns its number. */
export async function appendEntry(db: Db, entry: AuditEntry, segment?: Segment): Promise<number> {
  const query = CompiledQuery.raw(appendText, toParameters(entry, segment))
  const { rows } = await db.executeQuery<{ seq: number }>(query)
  return rows[0]?.seq ?? 0
}

const appendText = `select append_audit_record(${Array.from(
  { length: 22 },
  (_, at) => `$${at + 1}`,
).join(', ')}) as seq`

function toParameters(entry: AuditEntry, segment?: Segment): AuditStatement['values'] {
  const origin = detailOf(entry.origin)
  const change = detailOf(entry.change)
  const fields = toFields(entry, { origin, change, segment })
  return [
    ...[encodeRecord(fields), fields.chain_id, instantBytes(fields.recorded_at)],
    ...[fields.action, fields.outcome, fields.code, fields.actor_kind, fields.actor_id, fields.via],
    ...[fields.resource_type, fields.resource_id, fields.project_id, fields.request_id],
    ...[fields.suppressed, fields.segment_count, bytes(fields.segment_hash)],
    ...[bytes(fields.origin_hash), bytes(origin?.salt), origin?.value ?? null],
    ...[bytes(fields.change_hash), bytes(change?.salt), change?.value ?? null],
  ]
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
const maxDetailLength = 16_384

/** Returns the detail of a value; undefined for null. */
export function detailOf(value: unknown): Detail | undefined {
  if (value === null) return undefined
  const detail = createDetail(value)
  const isTooLong = detail.value.length > maxDetailLength
  return isTooLong ? createDetail({ too_long: detail.value.length }) : detail
}

function commitmentOf(part: DetailPart, detail: Detail | undefined): string | null {
  return detail === undefined ? null : commitTo(part, detail)
}

/**
 * Returns an instant in the binary format of PostgreSQL: microseconds since 2000. PostgreSQL would
 * need about a twentieth of the time of a record to parse the text.
 */
function instantBytes(instant: string): Buffer {
  const encoded = Buffer.allocUnsafe(8)
  encoded.writeBigInt64BE(BigInt(Date.parse(instant) - year2000_ms) * 1_000n)
  return encoded
}

const year2000_ms = Date.UTC(2000)

function bytes(hex: string | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : Buffer.from(hex, 'hex')
}
