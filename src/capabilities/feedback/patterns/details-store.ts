import type { Severity } from '../../../model/severity.ts'
import { sql } from '../../../platform/relational/index.ts'
import { isInWindow, type RatedWindow } from '../counting/counts-store.ts'
import type { InsightDb } from '../insight-db.ts'

/** What is shown of a found feature, beside its counts. */
export type FeatureDetails = {
  feature: string
  /** Distinct users, else conversations, with the feature. */
  users: number
  /** First task of the window with the feature and negative feedback; ISO 8601. */
  since: string
}

/** Reads details of found features. */
export async function readDetails(
  db: InsightDb,
  window: RatedWindow,
  features: string[],
): Promise<ReadonlyMap<string, FeatureDetails>> {
  const { rows } = await sql<FeatureDetails>`
    select feature, count(*)::int as users, min(since)::timestamptz(3) as since
    from (
      select feature, cluster, min(at) filter (where is_negative) as since
      from rated_tasks, unnest(features) as feature
      where ${isInWindow(window)} and features && ${features} and feature = any(${features})
      group by feature, cluster
    ) as clusters
    group by feature`.execute(db)
  return new Map(rows.map((row) => [row.feature, row]))
}

/** Counts the distinct users, else conversations, of a window, up to `limit`. */
export async function countUsers(
  db: InsightDb,
  window: RatedWindow,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ users: number }>`
    select count(*)::int as users from (
      select distinct cluster from rated_tasks where ${isInWindow(window)} limit ${limit}
    ) as found`.execute(db)
  return rows[0]?.users ?? 0
}

/** A task with negative feedback and a feature. */
export type Example = { feature: string; task_id: string; at: string }

/** Returns the newest tasks with negative feedback of each feature, at most `limit` of each. */
export async function readExamples(
  db: InsightDb,
  window: RatedWindow,
  { features, limit }: { features: string[]; limit: number },
): Promise<Example[]> {
  const { rows } = await sql<Example>`
    select feature, task_id, at
    from unnest(${features}::text[]) as feature, lateral (
      select task_id, at from rated_tasks
      where ${isInWindow(window)} and is_negative and features @> array[feature]
      order by at desc, task_id desc limit ${limit}
    ) as example
    order by feature, at desc, task_id desc`.execute(db)
  return rows
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
