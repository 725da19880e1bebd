import type { ByDefault, Instant, Json, JsonRecord } from '../column-types.ts'
import type { StoredParameter } from '../column-values.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface SavedQueryTables {
  saved_queries: {
    id: string
    project_id: string
    owner: string
    name: string
    description: string
    visibility: 'private' | 'project'
    kind: 'query' | 'aggregate'
    body: Json<JsonRecord>
    parameters: Json<StoredParameter[]>
    version: ByDefault<number>
    created_at: Instant
    updated_at: Instant
    updated_by: string
  }
}
