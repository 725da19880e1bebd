import { countUpTo, type Fragment, sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'
import type { FeedbackSource } from '../votes/vote.ts'
import { daysOf, type HourWindow } from './window.ts'

/** Rated tasks of a source in a window, by the time of the last vote. */
export type RatedWindow = HourWindow & {
  project_id: string
  source: FeedbackSource
  /**
   * True: tasks are counted by user. False: sums of whole days (UTC) are read, by 64 groups of
   * users. Both are clusters of users, so the same statistics hold.
   */
  is_exact: boolean
}

/** Maximum tasks of a window that is counted by user. For more tasks, sums of days are read. */
const maxExactTasks = 5_000

/** Chooses how the rated tasks of a window are counted. */
export async function toRatedWindow(
  db: InsightDb,
  window: Omit<RatedWindow, 'is_exact'>,
): Promise<RatedWindow> {
  const rated = db.selectFrom('rated_tasks').select('task_id').where(isInWindow(window))
  const tasks = await countUpTo(db, rated, maxExactTasks + 1)
  return { ...window, is_exact: tasks <= maxExactTasks }
}

/** Counts of a cluster of users: a user, or a group of users. */
export type ClusterCounts = [cluster: string, all: number, negative: number]

/** A feature with the counts of its clusters. The empty feature counts all tasks. */
export type CountedFeature = { feature: string; clusters: ClusterCounts[] }

export type FeatureChoice = {
  /** Counts tasks, or votes. */
  of: 'tasks' | 'votes'
  /** Minimum sum of a feature. */
  least: number
  /** Maximum features, those with the largest sums: of each kind, or in total. */
  features_max: number
  /** Kinds of features, such as `tool`; undefined for all. */
  kinds?: readonly string[]
}

/**
 * Counts the rated tasks of a window by feature and cluster, for the largest features and in total.
 * `features` is the number of features that reach the minimum sum, including those left out.
 */
export async function countByFeature(
  db: InsightDb,
  window: RatedWindow,
  { of, least, features_max, kinds }: FeatureChoice,
): Promise<{ counted: CountedFeature[]; features: number }> {
  const isWanted =
    kinds === undefined
      ? sql<boolean>`true`
      : sql<boolean>`(feature = '' or split_part(feature, ':', 1) = any(${[...kinds]}))`
  const peers = kinds === undefined ? sql`feature = ''` : sql`split_part(feature, ':', 1)`
  const { rows } = await sql<CountedFeature & { features: number }>`
    with counted as (${countsOf(window, of, isWanted)}), summed as (
      select feature, json_agg(json_build_array(cluster, "all", negative)) as clusters,
        sum("all") as total
      from counted where "all" > 0 group by feature
      having sum("all") >= ${least} or feature = ''
    ), ranked as (
      select *, row_number() over (partition by ${peers} order by total desc, feature) as rank
      from summed
    )
    select feature, clusters, (select count(*)::int from summed where feature <> '') as features
    from ranked where rank <= ${features_max} or feature = ''
    order by feature`.execute(db)
  const counted = rows.map(({ feature, clusters }) => ({ feature, clusters }))
  return { counted, features: rows[0]?.features ?? 0 }
}

function countsOf(
  { is_exact, ...window }: RatedWindow,
  of: FeatureChoice['of'],
  isWanted: Fragment<boolean>,
) {
  const sums =
    of === 'votes'
      ? { all: sql`sum(votes)`, negative: sql`sum(negative_votes)` }
      : is_exact
        ? { all: sql`count(*)`, negative: sql`count(*) filter (where is_negative)` }
        : { all: sql`sum(tasks)`, negative: sql`sum(negative_tasks)` }
  const { all, negative } = sums
  if (is_exact) {
    return sql`
      select feature, cluster, ${all}::int as "all", ${negative}::int as negative
      from rated_tasks, unnest(array_append(features, '')) as feature
      where ${isInWindow(window)} and ${isWanted} group by feature, cluster`
  }
  const days = daysOf(window)
  return sql`
    select feature, bucket::text as cluster, ${all}::int as "all", ${negative}::int as negative
    from rated_task_counts
    where project_id = ${window.project_id} and source = ${window.source}
      and day between ${days[0]} and ${days.at(-1)} and ${isWanted}
    group by feature, bucket`
}

/** Matches the rated tasks of a window. */
export function isInWindow({
  project_id,
  source,
  from,
  to,
}: Omit<RatedWindow, 'is_exact'>): Fragment<boolean> {
  return sql<boolean>`project_id = ${project_id} and source = ${source}
    and at >= ${from} and at < ${to}`
}

/** Returns the number of tasks whose changes are not counted yet, at most `limit`. */
export function countDue(db: InsightDb, project_id: string, limit: number): Promise<number> {
  const marks = db.selectFrom('rated_tasks_due').select('task_id')
  return countUpTo(db, marks.where('project_id', '=', project_id), limit)
}
