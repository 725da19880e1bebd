import type { ColumnType } from 'kysely'
import type {
  CountByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  OrNull,
} from './column-types.ts'

/** The tables of migration `0003_ingest_requests`, for `Kysely<IngestTables>`. */
export interface IngestTables {
  ingest_requests: IngestRequestsTable
  ingest_request_messages: IngestRequestMessagesTable
}

/** One canonical batch, under its idempotency key. */
interface IngestRequestsTable {
  ingest_request_id: string
  project_id: string
  idempotency_key: string
  /** SHA-256 of the batch as a JSON value, 32 bytes. */
  body_hash: Buffer
  schema_version: string
  first_seen_at: InstantByDefault
  last_seen_at: InstantByDefault
  replayed_hits: CountByDefault
  /** The call that is handing the batch to the queue; null when none is. */
  claim_id: OrNull<string>
  claimed_at: InstantOrNull
  /** Null until every message is durable in the queue. */
  messages_total: OrNull<number>
  /** Records that the client sent, and those of them that were not taken. */
  items: CountByDefault
  rejected: CountByDefault
  errors: ColumnType<{ pointer: string; detail: string }[], string | undefined, string>
  errors_left_out: CountByDefault
  error_reason: OrNull<string>
  processing_at: InstantOrNull
}

/** What became of one message of a batch. */
interface IngestRequestMessagesTable {
  ingest_request_id: string
  message_id: string
  settled_at: Instant
  /** True for a dead letter: a replay of it may still succeed. */
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

/** The table of migration `0004_capture_policies`, for `Kysely<CaptureTables>`. */
export interface CaptureTables {
  capture_policies: CapturePoliciesTable
}

/** What a project lets be recorded. */
interface CapturePoliciesTable {
  project_id: string
  content: 'full' | 'metadata_only' | 'off'
  /** The share of traces that is kept, 0 to 1. */
  sample_rate: number
  masks: Json<StoredMask[]>
  /** 1 at first, one more with each change. */
  version: number
  updated_at: Instant
  updated_by: OrNull<string>
}

/** Either `pattern` or `keys` is null. */
type StoredMask = {
  name: string
  pattern: string | null
  keys: string[] | null
  replacement: string
}
