import type { ColumnType } from 'kysely'
import type {
  ByDefault,
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
  keys: readonly string[] | null
  replacement: string
}

/** The table of migration `0012_saved_queries`, for `Kysely<SavedQueryTables>`. */
export interface SavedQueryTables {
  saved_queries: SavedQueriesTable
}

/** A saved query. */
interface SavedQueriesTable {
  id: string
  project_id: string
  /** `user:<id>`, `key:<id>` or `service_account:<id>`. */
  owner: string
  name: string
  description: string
  visibility: 'private' | 'project'
  kind: 'query' | 'aggregate'
  /** A template with placeholders; see the saved-queries capability. */
  body: Json<Record<string, unknown>>
  parameters: Json<StoredParameter[]>
  /** Starts at 1 and grows with each change. */
  version: number
  created_at: Instant
  updated_at: Instant
  updated_by: string
}

type StoredParameter = {
  name: string
  type: 'text' | 'texts' | 'uuid' | 'integer' | 'number' | 'boolean' | 'time'
  required: boolean
  default?: unknown
}

/** Tables of migration `0013_route_stats`, for `Kysely<RouteTables>`. */
export interface RouteTables {
  route_stats: RouteStatsTable
  recorded_queries: RecordedQueriesTable
}

/** Statistics of the reads of a query class on a store in one minute. */
interface RouteStatsTable {
  project_id: string
  minute: Instant
  query_class: string
  store: string
  requests: number
  errors: number
  fallbacks: number
  rows_read: number
  rows_read_of: number
  histogram: number[]
}

/** A recent query. */
interface RecordedQueriesTable {
  project_id: string
  hash: string
  kind: 'query' | 'aggregate'
  query_class: string
  body: Json<Record<string, unknown>>
  times: number
  slowest_ms: number
  last_at: Instant
}

/** Tables of migration `0008_hot_window`, for `Kysely<HotTables>`. */
export interface HotTables {
  store_routing: StoreRoutingTable
  hot_coverage: HotCoverageTable
  hot_gaps: HotGapsTable
  hot_observations: HotTable
  hot_traces: HotTable
}

type Route = 'auto' | 'clickhouse' | 'postgres'

/** Routing of a project's reads and writes. */
interface StoreRoutingTable {
  project_id: string
  write_stores: ('clickhouse' | 'postgres')[]
  hot_window_hours: number
  routes: Json<Record<'point' | 'list' | 'aggregate' | 'explorer', Route>>
  fallback: boolean
  /** Starts at 1 and grows with each change. */
  version: number
  updated_at: Instant
  updated_by: OrNull<string>
}

/** Data of a project in PostgreSQL. */
interface HotCoverageTable {
  project_id: string
  /** Nanoseconds since 1970. Read it as text. */
  covered_from: OrNull<bigint>
  /** The job that fills the missing days. */
  backfill_job: OrNull<string>
}

/** A day that is incomplete in PostgreSQL. */
interface HotGapsTable {
  project_id: string
  /** Days since 1970. */
  day: number
  reason: ByDefault<string>
  marked_at: InstantByDefault
}

/** A table with the columns of ClickHouse. Its statements are SQL text. */
interface HotTable {
  project_id: string
}
