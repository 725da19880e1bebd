import type { ManagedBy } from '../../model/managed-by.ts'
import type {
  CountByDefault,
  Instant,
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
