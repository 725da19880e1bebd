import {
  type HotTables,
  type JobTables,
  type Kysely,
  type RouteTables,
  sql,
} from '../../platform/relational/index.ts'
import { ProjectTable } from '../documents/index.ts'
import { type HotTableName, hotTables } from '../storage/index.ts'
import { defaultRouting, hotWindowHours, type Routing } from './contract.ts'

/** The tables of routing, hot windows, jobs and statistics of queries. */
export type RoutingDb = Kysely<HotTables & JobTables & RouteTables>

type Db = RoutingDb

/** A project's routing as stored. */
export type StoredRouting = Routing & {
  project_id: string
  version: number
  updated_at: string
  updated_by: string | null
}

/** The table of routings. */
export const routingTable = new ProjectTable<StoredRouting>('store_routing', {
  json: ['routes'],
  defaults: defaultRouting,
})

/** The state of a project's hot window in PostgreSQL. */
export type HotState = {
  /** Start of the filled part, in nanoseconds since 1970; null: not filled yet. */
  covered_from: bigint | null
  backfill_job: string | null
  gaps: HotGap[]
}

/** A day with missing rows; `day` counts from 1970. */
type HotGap = { day: number; reason: string }

/** Maximum gaps read at once. */
const gaps_max = 1000

/**
 * Finds the state of a project's hot window, with its gaps among these days, earliest first.
 * Undefined if the project does not write to PostgreSQL.
 */
export async function findHotState(
  db: Db,
  project_id: string,
  days: { from: number; to: number },
): Promise<HotState | undefined> {
  const { rows } = await sql<{
    covered_from: string | null
    backfill_job: string | null
    gaps: HotGap[] | null
  }>`
    select covered_from::text as covered_from, backfill_job,
      (select json_agg(json_build_object('day', day, 'reason', reason) order by day)
        from (select day, reason from hot_gaps
          where project_id = ${project_id} and day between ${days.from} and ${days.to}
          order by day limit ${gaps_max}) as gap) as gaps
    from hot_coverage where project_id = ${project_id}
  `.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const { covered_from, backfill_job, gaps } = row
  return {
    covered_from: covered_from === null ? null : BigInt(covered_from),
    backfill_job,
    gaps: gaps ?? [],
  }
}

/** Records the job that fills the hot window, and the start of the part that is filled already. */
export async function beginCoverage(
  db: Db,
  about: { project_id: string; backfill_job: string; covered_from: bigint | null },
): Promise<void> {
  const { project_id, backfill_job, covered_from } = about
  await sql`
    insert into hot_coverage (project_id, backfill_job, covered_from)
    values (${project_id}, ${backfill_job}, ${covered_from?.toString() ?? null}::bigint)
    on conflict (project_id) do update
      set backfill_job = excluded.backfill_job, covered_from = excluded.covered_from
  `.execute(db)
}

/** Ends reads of a project from PostgreSQL. */
export async function endCoverage(db: Db, project_id: string): Promise<void> {
  await db.deleteFrom('hot_coverage').where('project_id', '=', project_id).execute()
  await db.deleteFrom('hot_gaps').where('project_id', '=', project_id).execute()
}

/**
 * Extends the filled part back to an instant. Returns false if another job now fills the window.
 */
export async function extendCoverage(
  db: Db,
  about: { project_id: string; backfill_job: string; covered_from: bigint },
): Promise<boolean> {
  const { project_id, backfill_job, covered_from } = about
  const { numAffectedRows } = await sql`
    update hot_coverage
    set covered_from = least(covered_from, ${covered_from.toString()}::bigint)
    where project_id = ${project_id} and backfill_job = ${backfill_job}
  `.execute(db)
  return numAffectedRows === 1n
}

/** Marks days with missing rows. ClickHouse answers for them until a backfill repairs them. */
export async function markGaps(
  db: Db,
  about: { project_id: string; days: readonly number[]; reason: string },
): Promise<void> {
  await sql`
    insert into hot_gaps (project_id, day, reason)
    select ${about.project_id}, day, ${about.reason} from unnest(${about.days}::int[]) as day
    on conflict (project_id, day) do update
      set reason = excluded.reason, marked_at = clock_timestamp()
  `.execute(db)
}

/** Returns the database's time, which gaps are marked with. */
export async function databaseTime(db: Db): Promise<string> {
  const { rows } = await sql<{
    now: string
  }>`select clock_timestamp()::timestamptz(3) as now`.execute(db)
  return rows[0]?.now ?? new Date(0).toISOString()
}

/** Deletes the gaps of a day that were marked before its rows were copied. */
export async function closeGap(
  db: Db,
  about: { project_id: string; day: number; marked_before: string },
): Promise<void> {
  await db
    .deleteFrom('hot_gaps')
    .where('project_id', '=', about.project_id)
    .where('day', '=', about.day)
    .where('marked_at', '<', about.marked_before)
    .execute()
}

/** Finds projects with gaps between two days, at most 1,000, and those days. */
export async function findGaps(
  db: Db,
  about: { from_day: number; to_day: number },
): Promise<{ project_id: string; days: number[] }[]> {
  const { rows } = await sql<{ project_id: string; days: number[] }>`
    select project_id, array_agg(day order by day) as days
    from hot_gaps join hot_coverage using (project_id)
    where day between ${about.from_day} and ${about.to_day}
    group by project_id limit ${gaps_max}
  `.execute(db)
  return rows
}

/** Returns the widest hot window of all projects, in hours; undefined without any. */
export async function widestHotWindow(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ hours: number | null }>`
    select max(least(hot_window_hours, ${hotWindowHours.max})) as hours
    from store_routing where 'postgres' = any(write_stores)
  `.execute(db)
  return rows[0]?.hours ?? undefined
}

/**
 * Deletes a project's rows outside of its hot window, or all if it gave the window up; at most
 * 5,000 rows. Returns the number deleted.
 */
export async function deleteOutside(
  db: Db,
  about: {
    table: HotTableName
    project_id: string
    now: bigint
    beyond_hours: number
  },
): Promise<number> {
  const { table, project_id, now, beyond_hours } = about
  const [name, at] = [sql.id(table), sql.id(hotTables[table].time)]
  const key = sql.raw(hotTables[table].key.join(', '))
  const { numAffectedRows } = await sql`
    delete from ${name} where (${key}) in (
      select ${key} from ${name}
      where project_id = ${project_id} and ${at} < coalesce((
        select ${now.toString()}::bigint
          - (hot_window_hours + ${beyond_hours})::bigint * ${hour_ns.toString()}::bigint
        from store_routing
        where project_id = ${project_id} and 'postgres' = any(write_stores)
      ), ${(2n ** 63n - 1n).toString()}::bigint)
      order by ${at} limit ${deleted_max}
    )
  `.execute(db)
  return Number(numAffectedRows ?? 0)
}

const hour_ns = 3_600_000_000_000n

/** Maximum rows of one statement. */
const deleted_max = 5_000

/** Lists the projects with rows in a table, with one index look-up for each. */
export async function projectsIn(db: Db, table: HotTableName): Promise<string[]> {
  const name = sql.id(table)
  const { rows } = await sql<{ project_id: string }>`
    with recursive found as (
      (select project_id from ${name} order by project_id limit 1)
      union all
      select (select project_id from ${name} as next
        where next.project_id > found.project_id order by project_id limit 1)
      from found where found.project_id is not null
    )
    select project_id from found where project_id is not null
  `.execute(db)
  return rows.map(({ project_id }) => project_id)
}

/** Deletes gaps that are outside of all hot windows. */
export async function deleteOldGaps(db: Db, before_day: number): Promise<void> {
  await db.deleteFrom('hot_gaps').where('day', '<', before_day).execute()
}
