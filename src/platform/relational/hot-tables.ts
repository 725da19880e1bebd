import type { ByDefault, Instant, InstantByDefault, Json, OrNull } from './column-types.ts'

/** Tables of migration `0008_hot_window`, for `Kysely<HotTables>`. */
export interface HotTables {
  store_routing: StoreRoutingTable
  hot_coverage: HotCoverageTable
  hot_gaps: HotGapsTable
  hot_observations: HotTable
  hot_traces: HotTable
}

type Route = 'auto' | 'clickhouse' | 'postgres'

/** How a project's data is written and read. */
interface StoreRoutingTable {
  project_id: string
  write_stores: ('clickhouse' | 'postgres')[]
  hot_window_hours: number
  routes: Json<Record<'point' | 'list' | 'aggregate' | 'explorer', Route>>
  fallback: boolean
  /** 1 at first, one more with each change. */
  version: number
  updated_at: Instant
  updated_by: OrNull<string>
}

/** What of a project is in PostgreSQL. */
interface HotCoverageTable {
  project_id: string
  /** Nanoseconds since 1970: read it as text. */
  covered_from: OrNull<bigint>
  /** The job that fills what is missing. */
  backfill_job: OrNull<string>
}

/** A day that is not whole in PostgreSQL. */
interface HotGapsTable {
  project_id: string
  /** Days since 1970. */
  day: number
  reason: ByDefault<string>
  marked_at: InstantByDefault
}

/** Statements on these are written out: their columns are those of ClickHouse. */
interface HotTable {
  project_id: string
}
