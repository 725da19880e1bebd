import type { Instant, Json, OrNull } from './column-types.ts'

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
