import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { type Fragment, sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'
import { daysOf, type HourWindow } from './window.ts'

/** Tasks that started in a window, and those of them with votes of end users, by feature. */
export type RespondedTasks = { feature: string; tasks: number; rated: number }

/** Maximum tasks of a day that has not ended, for which the day is counted at each read. */
const maxFewTasks = 2_000

/**
 * Counts the tasks that started on the days (UTC) of a window, by feature. The empty feature counts
 * all tasks. Reads stored counts. Counts a day now if it has no stored count, or if it had few
 * tasks and had not ended when it was counted.
 */
export async function countResponses(
  db: InsightDb,
  project_id: string,
  window: HourWindow,
): Promise<RespondedTasks[]> {
  const days = daysOf(window)
  const { rows } = await sql<{ day: string }>`
    select day::text from task_day_counts
    where project_id = ${project_id} and day = any(${days}::date[]) and feature = ''
      and (counted_at >= (day + 1)::timestamp at time zone 'UTC' or tasks > ${maxFewTasks})
  `.execute(db)
  const stored = new Set(rows.map(({ day }) => day))
  const missing = days.filter((day) => !stored.has(day))
  const { rows: counted } = await sql<RespondedTasks>`
    select feature, sum(tasks)::int as tasks, sum(rated)::int as rated
    from (
      select feature, tasks, rated from task_day_counts
      where project_id = ${project_id} and day = any(${[...stored]}::date[])
      union all
      ${countTasks(project_id, missing)}
    ) as parts
    group by feature`.execute(db)
  return counted
}

function countTasks(project_id: string, days: readonly string[]): Fragment<RespondedTasks> {
  const start = (day = '1970-01-01') => sql`(${day}::date::timestamp at time zone 'UTC')`
  return sql<RespondedTasks>`
    select feature, count(*)::int as tasks, (count(*) filter (where is_rated))::int as rated
    from (
      select array(
        select left(kind || ':' || value, 200) from (
          select 'task_name' as kind, tasks.name as value
          union all select 'release', tasks.release
          union all select 'environment', tasks.environment
          union all select 'model', model from unnest(tasks.models) as model
          union all select 'tool', tool from unnest(run.tools) as tool
        ) as found where value <> ''
      ) as features,
      exists (
        select from feedback_tasks as rated
        where rated.project_id = tasks.project_id and rated.task_ref = tasks.task_id
          and rated.negative + rated.neutral + rated.positive > 0
      ) as is_rated
      from tasks
      left join task_detections as run using (project_id, task_id)
      where tasks.project_id = ${project_id}
        and tasks.started_at >= ${start(days[0])}
        and tasks.started_at < ${start(days.at(-1))} + interval '1 day'
        and (tasks.started_at at time zone 'UTC')::date = any(${[...days]}::date[])
        and tasks.environment is distinct from ${scenarioEnvironment}
    ) as task, unnest(array_append(features, '')) as feature
    group by feature`
}

/**
 * Counts the tasks of a day and replaces the earlier count. Keeps the `features_max` largest
 * features.
 */
export async function storeTaskDay(
  db: InsightDb,
  { project_id, day, now_ms }: { project_id: string; day: string; now_ms: number },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      delete from task_day_counts where project_id = ${project_id} and day = ${day}`.execute(trx)
    await sql`
      insert into task_day_counts (project_id, day, feature, tasks, rated, counted_at)
      select ${project_id}, ${day}::date, feature, tasks, rated, ${new Date(now_ms)}
      from (${countTasks(project_id, [day])}
        union all select '', 0, 0) as counted
      order by tasks desc limit ${features_max}
      on conflict (project_id, day, feature) do nothing`.execute(trx)
  })
}

const features_max = 5_000

/** Returns the stored days of a project since a day, with the time of their count. */
export async function storedDays(
  db: InsightDb,
  project_id: string,
  since: string,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ day: string; counted_ms: number }>`
    select day::text, (extract(epoch from counted_at) * 1000)::float as counted_ms
    from task_day_counts
    where project_id = ${project_id} and feature = '' and day >= ${since}`.execute(db)
  return new Map(rows.map(({ day, counted_ms }) => [day, counted_ms]))
}

/** Returns the next projects with feedback after a project, at most `limit`. */
export async function ratedProjects(
  db: InsightDb,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from projects
    where id > ${after} and exists (select from feedback_tasks where project_id = projects.id)
    order by id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Deletes counts of days before a day. */
export async function deleteOldCounts(db: InsightDb, before: string): Promise<void> {
  await sql`delete from rated_task_counts where day < ${before}::date`.execute(db)
  await sql`delete from task_day_counts where day < ${before}::date`.execute(db)
}
