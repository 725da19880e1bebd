import { hash } from 'node:crypto'
import type { ActorKind, AuditOutcome, CallPath } from '../../../model/audit-entry.ts'

/** The protected fields of a record, apart from its position. Hashes are 64 hex digits. */
export type RecordFields = {
  chain_id: string
  /** ISO 8601 UTC with milliseconds: when the call began. */
  recorded_at: string
  action: string
  outcome: AuditOutcome
  /** Code of the error; null for a successful call. */
  code: string | null
  actor_kind: ActorKind
  actor_id: string | null
  via: CallPath
  resource_type: string
  resource_id: string | null
  project_id: string | null
  request_id: string
  /** Number of the actor's refused calls without a record since the actor's last record. */
  suppressed: number
  /** Segment of reads: their number and their hash. */
  segment_count: number | null
  segment_hash: string | null
  /** Commitments to erasable details; null without such details. */
  origin_hash: string | null
  change_hash: string | null
}

/** A record in its chain. */
export type ChainRecord = RecordFields & { seq: number; hash: string }

/** A position in a chain. `hash` is that of the record with this number; zeros before the first. */
export type ChainHead = { seq: number; hash: string }

/** The position before the first record. */
export const emptyHead: ChainHead = { seq: 0, hash: '0'.repeat(64) }

const domain = 'looptrace audit record'
const version = 1

/** Order of the fields in the hash. To add a field, append it and increase the version. */
const hashedFields: readonly (keyof RecordFields)[] = [
  'chain_id',
  'recorded_at',
  'action',
  'outcome',
  'code',
  'actor_kind',
  'actor_id',
  'via',
  'resource_type',
  'resource_id',
  'project_id',
  'request_id',
  'suppressed',
  'segment_count',
  'segment_hash',
  'origin_hash',
  'change_hash',
]

/**
 * Returns the bytes of a record before its position: domain, version, and each field with its
 * length in 4 bytes. The length of null is 2³² − 1.
 */
export function encodeRecord(fields: RecordFields): Buffer {
  return encodeFields(
    domain,
    hashedFields.map((name) => fields[name]),
  )
}

/** Returns the hash of a record: SHA-256 of its bytes, number (8 bytes) and the previous hash. */
export function hashRecord(fields: RecordFields, previous: ChainHead): string {
  const seq = Buffer.alloc(8)
  seq.writeBigUInt64BE(BigInt(previous.seq + 1))
  const before = Buffer.from(previous.hash, 'hex')
  return hash('sha256', Buffer.concat([encodeRecord(fields), seq, before]))
}

/** Returns the record that follows a position. */
export function linkRecord(fields: RecordFields, previous: ChainHead): ChainRecord {
  return { ...fields, seq: previous.seq + 1, hash: hashRecord(fields, previous) }
}

/** Returns domain, version and values, each value with its length in 4 bytes. */
export function encodeFields(domain: string, values: readonly (string | number | null)[]): Buffer {
  const texts = values.map((value) => (value === null ? null : String(value)))
  const size = texts.reduce((sum, text) => sum + sizeOf(text), sizeOf(domain) + 1)
  const encoded = Buffer.allocUnsafe(size)
  let at = encoded.writeUInt8(version, writeText(encoded, domain, 0))
  for (const text of texts) at = writeText(encoded, text, at)
  return encoded
}

function sizeOf(text: string | null): number {
  return 4 + (text === null ? 0 : Buffer.byteLength(text))
}

/** Writes a text with its length, and returns the position after it. */
function writeText(target: Buffer, text: string | null, at: number): number {
  if (text === null) return target.writeUInt32BE(noText, at)
  const length = target.write(text, at + 4)
  target.writeUInt32BE(length, at)
  return at + 4 + length
}

/** The length of null. */
const noText = 0xff_ff_ff_ff
