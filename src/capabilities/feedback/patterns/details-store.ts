import type { Severity } from '../../../model/severity.ts'
import { sql } from '../../../platform/relational/index.ts'
import { isInWindow, type RatedWindow } from '../counting/counts-store.ts'
import { buckets } from '../counting/refresh-store.ts'
import { daysOf } from '../counting/window.ts'
import type { InsightDb } from '../insight-db.ts'

/** Details of a found feature, in addition to its counts. */
export type FeatureDetails = {
  feature: string
  /**
   * Earliest last vote of a task in the window with the feature and negative feedback; ISO 8601.
   */
  since: string
}

/** Reads when features first had negative feedback: by the day if counted by groups of users. */
export async function readDetails(
  db: InsightDb,
  window: RatedWindow,
  features: string[],
): Promise<ReadonlyMap<string, FeatureDetails>> {
  const [days, { project_id, source }] = [daysOf(window), window]
  const { rows } = window.is_exact
    ? await sql<FeatureDetails>`
        select feature, min(at)::timestamptz(3) as since
        from rated_tasks, unnest(features) as feature
        where ${isInWindow(window)} and is_negative and feature = any(${features})
        group by feature`.execute(db)
    : await sql<FeatureDetails>`
        select feature, (min(day)::timestamp at time zone 'UTC')::timestamptz(3) as since
        from rated_task_counts
        where project_id = ${project_id} and source = ${source} and negative_tasks > 0
          and day between ${days[0]} and ${days.at(-1)} and feature = any(${features})
        group by feature`.execute(db)
  return new Map(rows.map((row) => [row.feature, row]))
}

/** Groups whose users are counted, to estimate the number of all users. */
const sampledBuckets = 4

/**
 * Estimates the distinct users (or conversations) with each feature, from a sixteenth of them. The
 * empty feature has all users. For windows that are counted by groups of users.
 */
export async function estimateUsers(
  db: InsightDb,
  window: RatedWindow,
  features: string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ feature: string; users: number }>`
    select feature, (count(distinct cluster) * ${buckets / sampledBuckets}::int)::int as users
    from rated_tasks, unnest(array_append(features, '')) as feature
    where ${isInWindow(window)} and bucket < ${sampledBuckets} and feature = any(${features})
    group by feature`.execute(db)
  return new Map(rows.map(({ feature, users }) => [feature, users]))
}

/** A task with negative feedback and a feature. */
export type Example = { feature: string; task_id: string; at: string }

/**
 * Returns the newest tasks with negative feedback of each feature, at most `limit` of each. Reads
 * only the newest days with such tasks.
 */
export async function readExamples(
  db: InsightDb,
  window: RatedWindow,
  { features, limit }: { features: string[]; limit: number },
): Promise<Example[]> {
  const [days, { project_id, source }] = [daysOf(window), window]
  const { rows } = await sql<Example>`
    select found.feature, example.task_ref as task_id, example.at
    from unnest(${features}::text[]) as found (feature), lateral (
      select day from rated_task_counts as counted
      where project_id = ${project_id} and source = ${source} and counted.feature = found.feature
        and day between ${days[0]} and ${days.at(-1)}
      group by day having sum(negative_tasks) > 0 order by day desc limit ${limit}
    ) as newest, lateral (
      select task_ref, at from rated_tasks
      where ${isInWindow(window)} and is_negative and features @> array[found.feature]
        and at >= day::timestamp at time zone 'UTC'
        and at < (day + 1)::timestamp at time zone 'UTC'
      order by at desc, task_ref desc limit ${limit}
    ) as example
    order by 1, 3 desc, 2 desc`.execute(db)
  return [...Map.groupBy(rows, ({ feature }) => feature).values()].flatMap((of) =>
    of.slice(0, limit),
  )
}

/** A finding of a task. */
export type TaskFinding = {
  task_id: string
  finding_id: string
  type: string
  severity: Severity
}

/** Returns findings of tasks that were not withdrawn, the most severe first. */
export async function findingsOfTasks(
  db: InsightDb,
  project_id: string,
  task_ids: string[],
): Promise<TaskFinding[]> {
  const { rows } = await sql<TaskFinding>`
    select task_id, finding_id, type, severity from findings
    where project_id = ${project_id} and task_id = any(${task_ids}) and state <> 'withdrawn'
    order by array_position(array['critical', 'high', 'medium', 'low', 'info'], severity),
      finding_id`.execute(db)
  return rows
}
