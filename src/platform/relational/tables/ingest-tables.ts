import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  JsonByDefault,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface IngestTables {
  ingest_request_messages: {
    ingest_request_id: string
    message_id: string
    settled_at: Instant
    failed: boolean
    attempts: number
    stored: number
    rejected: number
    lost: number
    traces: number
    observations: number
    events: number
    links: number
    correlations: number
    error_reason: OrNull<string>
  }
  ingest_requests: {
    ingest_request_id: string
    project_id: string
    idempotency_key: string
    body_hash: Buffer
    schema_version: string
    first_seen_at: InstantByDefault
    last_seen_at: InstantByDefault
    replayed_hits: ByDefault<number>
    claim_id: OrNull<string>
    claimed_at: InstantOrNull
    messages_total: OrNull<number>
    items: ByDefault<number>
    rejected: ByDefault<number>
    errors: JsonByDefault<{ pointer: string; detail: string }[]>
    errors_left_out: ByDefault<number>
    error_reason: OrNull<string>
    processing_at: InstantOrNull
  }
  left_ledger_messages: {
    id: string
    project_id: string
    data: Buffer
    left_at: InstantByDefault
  }
}
