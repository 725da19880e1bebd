import type { Generated } from 'kysely'
import type { ActorKind, AuditOutcome, CallPath } from '../../model/audit-entry.ts'
import type { CountByDefault, Instant, InstantOrNull, OrNull } from './column-types.ts'

/** The tables of the audit trail, for `Kysely<AuditTables>`. */
export interface AuditTables {
  audit_chains: AuditChainsTable
  audit_records: AuditRecordsTable
  audit_reads: AuditReadsTable
  audit_read_batches: AuditReadBatchesTable
  audit_erasures: AuditErasuresTable
  audit_checkpoints: AuditCheckpointsTable
  audit_keys: AuditKeysTable
  audit_streams: AuditStreamsTable
  audit_stream_cursors: AuditStreamCursorsTable
  audit_stream_refusals: AuditStreamRefusalsTable
}

/** The position of a chain's last record, of its deleted prefix and of its last checkpoint. */
interface AuditChainsTable {
  chain_id: string
  seq: number
  hash: Buffer
  pruned_seq: CountByDefault
  pruned_hash: Buffer
  checkpoint_seq: CountByDefault
  checkpoint_digest: OrNull<Buffer>
  checkpoint_at: InstantOrNull
}

/** A record of a call. Salt and value are null without a detail, or after its erasure. */
interface AuditRecordsTable {
  chain_id: string
  seq: number
  recorded_at: Instant
  action: string
  outcome: AuditOutcome
  code: OrNull<string>
  actor_kind: ActorKind
  actor_id: OrNull<string>
  via: CallPath
  resource_type: string
  resource_id: OrNull<string>
  project_id: OrNull<string>
  request_id: string
  suppressed: number
  segment_count: OrNull<number>
  segment_hash: OrNull<Buffer>
  origin_hash: OrNull<Buffer>
  origin_salt: OrNull<Buffer>
  origin_value: OrNull<string>
  change_hash: OrNull<Buffer>
  change_salt: OrNull<Buffer>
  change_value: OrNull<string>
  hash: Buffer
}

/** A read of content by a person. `segment_seq` is the record that seals it. */
interface AuditReadsTable {
  /** Sorts by time. */
  id: string
  chain_id: string
  read_at: Instant
  action: string
  actor_kind: ActorKind
  actor_id: string
  via: CallPath
  resource_type: string
  resource_id: OrNull<string>
  project_id: OrNull<string>
  request_id: string
  origin_hash: Buffer
  origin_salt: OrNull<Buffer>
  origin_value: OrNull<string>
  segment_seq: OrNull<number>
}

/** Reads of a chain that are stored, but not sealed. */
interface AuditReadBatchesTable {
  id: Generated<number>
  /** The journal segment that contained the reads. */
  segment_id: string
  chain_id: string
  read_count: number
  /** A JSON array of `UnsealedRead`. */
  reads: string
}

/** The last erasure of a person in a chain. */
interface AuditErasuresTable {
  chain_id: string
  user_id: string
  erased_at: Instant
}

/** A signed checkpoint; `envelope` is DSSE as JSON text. */
interface AuditCheckpointsTable {
  chain_id: string
  seq: number
  kind: 'head' | 'pruned'
  envelope: string
  created_at: Instant
  /** When all sinks had it. */
  published_at: InstantOrNull
}

/** A key that signs checkpoints. */
interface AuditKeysTable {
  /** SHA-256 of the SPKI, in hex. */
  id: string
  /** SPKI in PEM. */
  public_key: string
  private_key_encrypted: Buffer
  created_at: Instant
}

/** A stream of records to a receiver, and its failed attempts since the last success. */
interface AuditStreamsTable {
  name: string
  attempts: CountByDefault
  next_attempt_at: InstantOrNull
  /** Records that were set aside since the receiver last accepted a new one. */
  set_aside_in_row: CountByDefault
}

/** The last record of a chain that the receiver of a stream accepted. */
interface AuditStreamCursorsTable {
  stream: string
  chain_id: string
  seq: number
  sent_at: Instant
}

/** A record that the receiver of a stream refused in its shortest form. */
interface AuditStreamRefusalsTable {
  stream: string
  chain_id: string
  seq: number
  /** Status of the receiver's last answer. */
  status: number
  attempts: number
  refused_at: Instant
  /** When the stream went on without the record; null while it still waits for it. */
  set_aside_at: InstantOrNull
}
