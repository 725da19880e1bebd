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

/** A canonical batch with its idempotency key. */
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
  /** The call that is publishing the batch; null when none is. */
  claim_id: OrNull<string>
  claimed_at: InstantOrNull
  /** Number of messages; null until all are durable in the queue. */
  messages_total: OrNull<number>
  /** Records of the batch, and rejected records among them. */
  items: CountByDefault
  rejected: CountByDefault
  errors: ColumnType<{ pointer: string; detail: string }[], string | undefined, string>
  errors_left_out: CountByDefault
  error_reason: OrNull<string>
  processing_at: InstantOrNull
}

/** The outcome of one message of a batch. */
interface IngestRequestMessagesTable {
  ingest_request_id: string
  message_id: string
  settled_at: Instant
  /** True for a dead letter, which may still succeed after a replay. */
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

/** The capture policy of a project. */
interface CapturePoliciesTable {
  project_id: string
  content: 'full' | 'metadata_only' | 'off'
  /** Share of traces that are recorded, 0 to 1. */
  sample_rate: number
  masks: Json<StoredMask[]>
  /** Starts at 1 and grows with each change. */
  version: number
  updated_at: Instant
  updated_by: OrNull<string>
}

/** A mask as stored. Either `pattern` or `keys` is null. */
type StoredMask = {
  name: string
  pattern: string | null
  keys: string[] | null
  replacement: string
}
