import type { Instant, Json, OrNull } from '../column-types.ts'
import type { StoredMask } from '../column-values.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface CaptureTables {
  capture_policies: {
    project_id: string
    content: 'full' | 'metadata_only' | 'off'
    sample_rate: number
    masks: Json<StoredMask[]>
    version: number
    updated_at: Instant
    updated_by: OrNull<string>
  }
}
