import type { Instant, Json } from './column-types.ts'

/** The table of migration `0012_saved_queries`, for `Kysely<SavedQueryTables>`. */
export interface SavedQueryTables {
  saved_queries: SavedQueriesTable
}

/** A query that somebody keeps. */
interface SavedQueriesTable {
  id: string
  project_id: string
  /** `user:<id>`, `key:<id>` or `service_account:<id>`. */
  owner: string
  name: string
  description: string
  visibility: 'private' | 'project'
  kind: 'query' | 'aggregate'
  /** A template: see the capability. */
  body: Json<Record<string, unknown>>
  parameters: Json<StoredParameter[]>
  /** 1 at first, one more with each change. */
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
