import { type Kysely, type RouteTables, sql } from '../../platform/relational/index.ts'
import type { QueryClass, StoreName } from './contract.ts'

export type RouteDb = Kysely<RouteTables>

/** Counts of one minute, class and store. */
export type RouteCounts = {
  requests: number
  errors: number
  fallbacks: number
  rows_read: number
  rows_read_of: number
  histogram: number[]
}

export type RouteKey = { query_class: QueryClass; store: StoreName }

type MinuteRow = RouteKey & RouteCounts & { project_id: string; minute: string }

/** Adds counts to the stored ones. Not idempotent: a repeated call counts twice. */
export async function addRouteStats(db: RouteDb, rows: readonly MinuteRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into route_stats
    select * from json_populate_recordset(null::route_stats, ${JSON.stringify(rows)}::json)
    on conflict (project_id, minute, query_class, store) do update set
      requests = route_stats.requests + excluded.requests,
      errors = route_stats.errors + excluded.errors,
      fallbacks = route_stats.fallbacks + excluded.fallbacks,
      rows_read = route_stats.rows_read + excluded.rows_read,
      rows_read_of = route_stats.rows_read_of + excluded.rows_read_of,
      histogram = ${sumArrays('route_stats.histogram', 'excluded.histogram')}
  `.execute(db)
}

function sumArrays(one: string, other: string) {
  return sql.raw(`(select array_agg(coalesce(a, 0) + coalesce(b, 0) order by at)
    from unnest(${one}, ${other}) with ordinality as each (a, b, at))`)
}

/** Sums the counts of a window by class and store. */
export async function readRouteStats(
  db: RouteDb,
  { project_id, from, to }: { project_id: string; from: string; to: string },
): Promise<(RouteKey & RouteCounts)[]> {
  const { rows } = await sql<RouteKey & RouteCounts>`
    with wanted as (
      select * from route_stats
      where project_id = ${project_id} and minute >= ${from} and minute < ${to}
    ), buckets as (
      select query_class, store, at, sum(count)::bigint as count
      from wanted, unnest(histogram) with ordinality as each (count, at)
      group by query_class, store, at
    ), histograms as (
      select query_class, store, array_agg(count::int order by at) as histogram
      from buckets group by query_class, store
    )
    select query_class, store, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
      sum(fallbacks)::bigint as fallbacks, sum(rows_read)::bigint as rows_read,
      sum(rows_read_of)::bigint as rows_read_of, histograms.histogram
    from wanted join histograms using (query_class, store)
    group by query_class, store, histograms.histogram
    order by query_class, store
  `.execute(db)
  return rows
}

/** A recorded query. */
export type RecordedQuery = {
  project_id: string
  hash: string
  kind: 'query' | 'aggregate'
  query_class: QueryClass
  body: Record<string, unknown>
  times: number
  slowest_ms: number
  last_at: string
}

/** Stores queries. A known query takes the latest body. */
export async function recordQueries(db: RouteDb, queries: readonly RecordedQuery[]): Promise<void> {
  if (queries.length === 0) return
  await sql`
    insert into recorded_queries
    select * from json_populate_recordset(null::recorded_queries, ${JSON.stringify(queries)}::json)
    on conflict (project_id, hash) do update set
      body = excluded.body,
      times = recorded_queries.times + excluded.times,
      slowest_ms = greatest(recorded_queries.slowest_ms, excluded.slowest_ms),
      last_at = greatest(recorded_queries.last_at, excluded.last_at)
  `.execute(db)
}

/** Returns a project's slowest and latest queries, at most `each` of both. */
export async function slowestAndLatest(
  db: RouteDb,
  { project_id, each }: { project_id: string; each: number },
): Promise<RecordedQuery[]> {
  const ofProject = sql`select * from recorded_queries where project_id = ${project_id}`
  const { rows } = await sql<RecordedQuery>`
    (${ofProject} order by slowest_ms desc, hash limit ${each})
    union (${ofProject} order by last_at desc, hash limit ${each})
  `.execute(db)
  return rows
}

/** Days for which statistics and recorded queries are kept. */
export const keptDays = 7

/** Maximum recorded queries of a project: this many slowest and this many latest. */
const recorded_max = 100

/** Deletes old statistics, and each project's excess of recorded queries. */
export async function trimRouteStats(db: RouteDb, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptDays * 86_400_000).toISOString()
  await db.deleteFrom('route_stats').where('minute', '<', before).execute()
  await db.deleteFrom('recorded_queries').where('last_at', '<', before).execute()
  await sql`
    delete from recorded_queries where (project_id, hash) in (
      select project_id, hash from (
        select project_id, hash,
          row_number() over (partition by project_id order by slowest_ms desc) as slow,
          row_number() over (partition by project_id order by last_at desc) as late
        from recorded_queries
      ) as ranked where slow > ${recorded_max} and late > ${recorded_max}
    )
  `.execute(db)
}
