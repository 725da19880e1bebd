import type { ByDefault, Instant, InstantOrNull, Json } from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface ArchiveTables {
  archive_files: {
    job_id: string
    ordinal: number
    name: string
    kind: string
    day: number
    part: number
    row_count: number
    bytes: number
    sha256: string
    row_checksum: string
    min_time_ns: string
    max_time_ns: string
    position: Json<string[]>
  }
  restored_slices: {
    id: string
    project_id: string
    name: string
    archive_run_id: string
    job_id: string
    state: ByDefault<'restoring' | 'ready' | 'ending' | 'ended'>
    kinds: Json<string[]>
    window_from: InstantOrNull
    window_to: InstantOrNull
    row_count: ByDefault<number>
    bytes: ByDefault<number>
    erased_rows: ByDefault<number>
    created_by: string
    created_at: Instant
    expires_at: Instant
    ended_at: InstantOrNull
  }
}
