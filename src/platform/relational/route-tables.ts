import type { Instant, Json } from './column-types.ts'

/** Tables of migration `0013_route_stats`, for `Kysely<RouteTables>`. */
export interface RouteTables {
  route_stats: RouteStatsTable
  recorded_queries: RecordedQueriesTable
}

/** How reads of a class went on a store in one minute. */
interface RouteStatsTable {
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

/** A query that was asked lately. */
interface RecordedQueriesTable {
  project_id: string
  hash: string
  kind: 'query' | 'aggregate'
  query_class: string
  body: Json<Record<string, unknown>>
  times: number
  slowest_ms: number
  last_at: Instant
}
