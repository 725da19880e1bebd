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

/** The tables of migrations `0010_retention`, `0017_…` and `0019_…`, for `Kysely<RetentionTables>`. */
export interface RetentionTables {
  retention_policies: RetentionPoliciesTable
  legal_holds: LegalHoldsTable
  retention_buckets: RetentionBucketsTable
  erasures: ErasuresTable
  erasure_keys: ErasureKeysTable
  erased_traces: ErasedTracesTable
}

/** Days by what is kept; null: for ever. */
export type RetentionDays = {
  content: number | null
  observations: number | null
  traces: number | null
  events: number | null
}

/** When days are archived: those that are older than so many days, at the times of a cron, in UTC. */
export type ArchiveSchedule = { enabled: boolean; after_days: number; schedule: string }

/** How long a project's data is kept. */
interface RetentionPoliciesTable {
  project_id: string
  days: Json<RetentionDays>
  /** What differs from `days` in an environment. */
  environments: Json<{ environment: string; days: Partial<RetentionDays> }[]>
  archive_before_delete: boolean
  archive: JsonOrNull<ArchiveSchedule>
  /** When `archive` was last set: what was due before is not. */
  archive_since: InstantOrNull
  /** When the daily run comes next; null in a policy of an earlier version. */
  next_run_at: InstantOrNull
  managed_by: JsonOrNull<ManagedBy>
  /** 1 at first, one more with each change. */
  version: number
  updated_at: Instant
  updated_by: string
}

/** What may not be deleted; released when `released_at` is set. */
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
  /** Tells the holds of a resource apart; null when nothing manages it. */
  managed_name: OrNull<string>
}

/** What a retention run found and did. `day` counts from 1970 in UTC. */
interface RetentionBucketsTable {
  job_id: string
  day: number
  kind: string
  environment: string
  action: 'mask' | 'delete' | 'keep'
  /** `kept`: the rows stay. All buckets of a dry run are `kept`. */
  state: 'begun' | 'done' | 'kept'
  reason: OrNull<string>
  row_count: CountByDefault
  bytes: CountByDefault
  held_rows: CountByDefault
}

/** A request to delete what is known of a user. */
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

/** A trace of an erased user, known by the digest of `erasures`. */
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

/** A file that an archive run has written and read back. `day` counts from 1970 in UTC. */
interface ArchiveFilesTable {
  job_id: string
  /** From 0, in the order in which the run wrote them. */
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
  /** That of its last row. */
  position: Json<string[]>
}

/** Archived rows that are back for a while. */
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

/** One job: what was asked, how far it is, what it came to. */
interface JobRunsTable {
  id: string
  project_id: string
  kind: string
  state: ByDefault<'queued' | 'running' | 'succeeded' | 'failed'>
  params: Json<Record<string, unknown>>
  /** What the handler noted last; who takes the job over goes on from here. */
  progress: JsonOrNull<Record<string, unknown>>
  result: JsonOrNull<Record<string, unknown>>
  error: OrNull<string>
  /** Times that it was begun. */
  attempt: ByDefault<number>
  exclusive_key: OrNull<string>
  once_key: OrNull<string>
  /** It is not begun before. */
  due_at: InstantByDefault
  /** Names the holding, not the process: whoever claims again has another one. */
  lease_owner: OrNull<string>
  lease_until: InstantOrNull
  requested_by: string
  created_at: InstantByDefault
  started_at: InstantOrNull
  ended_at: InstantOrNull
}
