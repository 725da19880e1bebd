import type { ManagedBy } from '../../model/managed-by.ts'
import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/** The tables of migrations `0010`, `0017` and `0019`, for `Kysely<RetentionTables>`. */
export interface RetentionTables {
  retention_policies: RetentionPoliciesTable
  legal_holds: LegalHoldsTable
  retention_buckets: RetentionBucketsTable
  erasures: ErasuresTable
  erasure_keys: ErasureKeysTable
  erased_traces: ErasedTracesTable
}

/** Retention in days by kind of data; null keeps the data for ever. */
export type RetentionDays = {
  content: number | null
  observations: number | null
  traces: number | null
  events: number | null
}

/** Archives days older than `after_days`, at the times of a cron schedule in UTC. */
export type ArchiveSchedule = { enabled: boolean; after_days: number; schedule: string }

/** The retention policy of a project. */
interface RetentionPoliciesTable {
  project_id: string
  days: Json<RetentionDays>
  /** Overrides of `days` per environment. */
  environments: Json<readonly { environment: string; days: Partial<RetentionDays> }[]>
  archive_before_delete: boolean
  archive: JsonOrNull<ArchiveSchedule>
  /** When `archive` was last set. Earlier runs of the schedule are not due. */
  archive_since: InstantOrNull
  /** Next daily run; null in a policy of an earlier version. */
  next_run_at: InstantOrNull
  managed_by: JsonOrNull<ManagedBy>
  /** Starts at 1 and grows with each change. */
  version: number
  updated_at: Instant
  updated_by: string
}

/** A legal hold, which blocks deletion until `released_at` is set. */
interface LegalHoldsTable {
  id: string
  project_id: string
  kind: 'trace' | 'task' | 'conversation' | 'user'
  value: string
  reason: string
  created_at: Instant
  created_by: string
  released_at: InstantOrNull
  released_by: OrNull<string>
  managed_by: JsonOrNull<ManagedBy>
  /** Name of the hold within its resource; null when no resource manages it. */
  managed_name: OrNull<string>
}

/** The result of a retention run for one day and kind. `day` is days since 1970, UTC. */
interface RetentionBucketsTable {
  job_id: string
  day: number
  kind: string
  environment: string
  action: 'mask' | 'delete' | 'keep'
  /** `kept`: the rows are not deleted. All buckets of a dry run are `kept`. */
  state: 'begun' | 'done' | 'kept'
  reason: OrNull<string>
  row_count: CountByDefault
  bytes: CountByDefault
  held_rows: CountByDefault
}

/** A request to delete the data of a user. */
interface ErasuresTable {
  id: string
  project_id: string
  /** Null once the data is gone. */
  user_id: OrNull<string>
  /** HMAC-SHA-256 of the user's id under the project's key, 32 bytes. */
  user_id_digest: Buffer
  reason: string
  purge: boolean
  job_id: OrNull<string>
  receipt: JsonOrNull<Record<string, unknown>>
  requested_by: string
  created_at: Instant
  /** When the rows of the user became unreadable in every store. */
  unreadable_at: InstantOrNull
  ended_at: InstantOrNull
}

/** A trace of an erased user, identified by the digest of `erasures`. */
interface ErasedTracesTable {
  project_id: string
  user_id_digest: Buffer
  trace_id: string
}

interface ErasureKeysTable {
  project_id: string
  /** 32 random bytes. */
  key: Buffer
}

/** The tables of migration `0011_archives`, for `Kysely<ArchiveTables>`. */
export interface ArchiveTables {
  archive_files: ArchiveFilesTable
  restored_slices: RestoredSlicesTable
}

/** A file that an archive run has written and verified. `day` is days since 1970, UTC. */
interface ArchiveFilesTable {
  job_id: string
  /** Index in the order of writing, from 0. */
  ordinal: number
  name: string
  kind: string
  day: number
  part: number
  row_count: number
  bytes: number
  sha256: string
  /** A decimal below 2^64. */
  row_checksum: string
  /** Nanoseconds since 1970, as decimal text: a number would lose digits. */
  min_time_ns: string
  max_time_ns: string
  /** Position of its last row. */
  position: Json<string[]>
}

/** Archived rows that are restored for a limited time. */
interface RestoredSlicesTable {
  id: string
  project_id: string
  name: string
  archive_run_id: string
  job_id: string
  state: ByDefault<'restoring' | 'ready' | 'ending' | 'ended'>
  kinds: Json<string[]>
  window_from: InstantOrNull
  window_to: InstantOrNull
  row_count: CountByDefault
  bytes: CountByDefault
  erased_rows: CountByDefault
  created_by: string
  created_at: Instant
  expires_at: Instant
  ended_at: InstantOrNull
}

/** The table of migration `0007_job_runs`, for `Kysely<JobTables>`. */
export interface JobTables {
  job_runs: JobRunsTable
}

/** A job with its parameters, progress and result. */
interface JobRunsTable {
  id: string
  project_id: string
  kind: string
  state: ByDefault<'queued' | 'running' | 'succeeded' | 'failed'>
  params: Json<Record<string, unknown>>
  /** Last checkpoint of the handler. Another worker resumes from here. */
  progress: JsonOrNull<Record<string, unknown>>
  result: JsonOrNull<Record<string, unknown>>
  error: OrNull<string>
  /** Number of starts. */
  attempt: ByDefault<number>
  exclusive_key: OrNull<string>
  once_key: OrNull<string>
  /** Earliest start. */
  due_at: InstantByDefault
  /** Id of the claim, not of the process: each claim has a new one. */
  lease_owner: OrNull<string>
  lease_until: InstantOrNull
  requested_by: string
  created_at: InstantByDefault
  started_at: InstantOrNull
  ended_at: InstantOrNull
}
