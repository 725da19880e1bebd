import type { ByDefault, CountByDefault, Instant, InstantOrNull, Json } from './column-types.ts'

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
