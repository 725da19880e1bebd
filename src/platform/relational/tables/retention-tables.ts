import type { ManagedBy } from '../../../model/managed-by.ts'
import type {
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'
import type { ArchiveSchedule, RetentionDays } from '../column-values.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface RetentionTables {
  erased_traces: {
    project_id: string
    user_id_digest: Buffer
    trace_id: string
  }
  erasure_keys: {
    project_id: string
    key: Buffer
  }
  erasures: {
    id: string
    project_id: string
    user_id: OrNull<string>
    user_id_digest: Buffer
    reason: string
    purge: boolean
    job_id: OrNull<string>
    receipt: JsonOrNull<JsonRecord>
    requested_by: string
    created_at: Instant
    unreadable_at: InstantOrNull
    ended_at: InstantOrNull
  }
  legal_holds: {
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
    managed_name: OrNull<string>
  }
  retention_buckets: {
    job_id: string
    day: number
    kind: string
    environment: string
    action: 'mask' | 'delete' | 'keep'
    state: 'begun' | 'done' | 'kept'
    reason: OrNull<string>
    row_count: number
    bytes: number
    held_rows: number
  }
  retention_policies: {
    project_id: string
    days: Json<RetentionDays>
    environments: Json<readonly { environment: string; days: Partial<RetentionDays> }[]>
    archive_before_delete: boolean
    archive: JsonOrNull<ArchiveSchedule>
    archive_since: InstantOrNull
    next_run_at: InstantOrNull
    archive_due_at: InstantOrNull
    managed_by: JsonOrNull<ManagedBy>
    version: number
    updated_at: Instant
    updated_by: string
  }
}
