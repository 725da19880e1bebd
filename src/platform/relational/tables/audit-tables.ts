import type { ActorKind, AuditOutcome, CallPath } from '../../../model/audit-entry.ts'
import type { ByDefault, Computed, Instant, InstantOrNull, OrNull } from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface AuditTables {
  audit_chains: {
    chain_id: string
    seq: number
    hash: Buffer
    pruned_seq: ByDefault<number>
    pruned_hash: ByDefault<Buffer>
    checkpoint_seq: ByDefault<number>
    checkpoint_digest: OrNull<Buffer>
    checkpoint_at: InstantOrNull
  }
  audit_checkpoints: {
    chain_id: string
    seq: number
    kind: 'head' | 'pruned'
    envelope: string
    created_at: Instant
    published_at: InstantOrNull
  }
  audit_erasures: {
    chain_id: string
    user_id: string
    erased_at: Instant
  }
  audit_keys: {
    id: string
    public_key: string
    private_key_encrypted: Buffer
    created_at: Instant
  }
  audit_read_batches: {
    id: Computed<number>
    segment_id: ByDefault<string>
    chain_id: string
    read_count: number
    reads: string
  }
  audit_reads: {
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
  audit_records: {
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
  audit_stream_cursors: {
    stream: string
    chain_id: string
    seq: number
    sent_at: Instant
  }
  audit_stream_refusals: {
    stream: string
    chain_id: string
    seq: number
    status: number
    attempts: number
    refused_at: Instant
    set_aside_at: InstantOrNull
  }
  audit_streams: {
    name: string
    attempts: ByDefault<number>
    next_attempt_at: InstantOrNull
    set_aside_in_row: ByDefault<number>
  }
}
