import type { Instant, Json, JsonRecord } from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface RouteTables {
  recorded_queries: {
    project_id: string
    hash: string
    kind: 'query' | 'aggregate'
    query_class: string
    body: Json<JsonRecord>
    times: number
    slowest_ms: number
    last_at: Instant
  }
  route_stats: {
    project_id: string
    minute: Instant
    query_class: string
    store: string
    requests: number
    errors: number
    fallbacks: number
    rows_read: number
    rows_read_of: number
    histogram: number[]
  }
}
