import type { Severity } from '../../../model/severity.ts'
import { sql } from '../../../platform/relational/index.ts'
import { selectTaskIncidents } from '../../incidents/index.ts'
import type { InsightDb } from '../contract.ts'
import {
  type CountedFeature,
  countByFeature,
  countDue,
  isInWindow,
  type RatedWindow,
} from '../counting/counts-store.ts'
import { buckets } from '../counting/refresh-store.ts'
import { daysOf } from '../counting/window.ts'
import {
  defaultPatternSettings,
  type FeatureCounts,
  findPatterns,
  type Pattern,
  type PatternInput,
  type PatternSettings,
} from './find-patterns.ts'

/** Maximum features that are tested, those with the most tasks. */
const features_max = 1_000
const examples_max = 3
const maxExampleFindings = 5
const count_max = 10_000

/** Finds the patterns of a window, with details of the first `limit`. */
export async function findStoredPatterns(db: InsightDb, window: RatedWindow, limit: number) {
  const { tasks_min: least, users_min } = defaultPatternSettings
  const [{ counted, features }, uncounted] = await Promise.all([
    countByFeature(db, window, { of: 'tasks', least, features_max }),
    countDue(db, window.project_id, count_max),
  ])
  const input = toPatternInput(counted)
  const patterns = findPatterns(input)
  const shown = patterns.slice(0, limit)
  const estimated = window.is_exact
    ? undefined
    : await estimateUsers(db, window, ['', ...shown.map(({ feature }) => feature)])
  const users = Math.max(input.users.length, estimated?.get('') ?? 0)
  const sum = (of: 'tasks' | 'negative') => input.users.reduce((all, one) => all + one[of], 0)
  const tasks = sum('tasks')
  return {
    patterns: await describePatterns(db, window, shown, estimated),
    total: patterns.length,
    note: patterns.length > 0 ? null : explainNone({ tasks, users, users_min }),
    tasks,
    users,
    uncounted,
    negative: sum('negative'),
    tested: countTested(input, defaultPatternSettings),
    left_out: Math.max(0, features - features_max),
  }
}

/** Shapes stored counts for the test. A group of users counts as one user. */
function toPatternInput(counted: readonly CountedFeature[]): PatternInput {
  const features = counted.map(({ feature, clusters }): FeatureCounts => {
    const users = clusters.map(([user, tasks, negative]) => ({ user, tasks, negative }))
    return { feature, users }
  })
  return {
    users: features.find(({ feature }) => feature === '')?.users ?? [],
    features: features.filter(({ feature }) => feature !== ''),
  }
}

/** Counts the features with the minimum tasks and users. */
function countTested(
  { users, features }: PatternInput,
  { tasks_min, users_min }: PatternSettings,
): number {
  const sum = (of: FeatureCounts['users']) => of.reduce((all, one) => all + one.tasks, 0)
  const all = sum(users)
  return features.filter((one) => {
    const tasks = sum(one.users)
    return tasks >= tasks_min && one.users.length >= users_min && tasks < all
  }).length
}

function explainNone(found: { tasks: number; users: number; users_min: number }): string {
  const { tasks, users, users_min } = found
  if (tasks === 0) return 'No task of the window has feedback of this source.'
  if (users >= users_min)
    return 'No feature of the tasks comes with clearly more negative feedback.'
  const have = users === 1 ? '1 user has' : `${users} users have`
  return `Not enough: ${have} feedback, a pattern needs ${users_min}.`
}

async function describePatterns(
  db: InsightDb,
  window: RatedWindow,
  patterns: readonly Pattern[],
  estimated: ReadonlyMap<string, number> | undefined,
) {
  if (patterns.length === 0) return []
  const features = patterns.map(({ feature }) => feature)
  const [details, examples] = await Promise.all([
    readDetails(db, window, features),
    readExamples(db, window, { features, limit: examples_max }),
  ])
  const byFeature = Map.groupBy(await linkExamples(db, window, examples), (one) => one.feature)
  return patterns.map((pattern) => {
    const { feature } = pattern
    const users = Math.max(pattern.users, estimated?.get(feature) ?? 0)
    const since = details.get(feature)?.since ?? null
    const [kind = '', ...rest] = feature.split(':')
    const [low, high] = pattern.interval
    return {
      ...pattern,
      kind,
      value: rest.join(':'),
      users,
      since,
      interval: [low, high] as [number, number],
      examples: (byFeature.get(feature) ?? []).map(({ example }) => example),
    }
  })
}

/** Adds the findings and incidents of example tasks. */
async function linkExamples(
  db: InsightDb,
  { project_id, from: since }: RatedWindow,
  examples: Awaited<ReturnType<typeof readExamples>>,
) {
  const task_ids = [...new Set(examples.map(({ task_id }) => task_id))]
  const [findings, incidents] = await Promise.all([
    findingsOfTasks(db, project_id, task_ids),
    selectTaskIncidents(db, project_id, { task_ids, since }),
  ])
  const findingsOf = Map.groupBy(findings, ({ task_id }) => task_id)
  const incidentsOf = Map.groupBy(incidents, ({ task_id }) => task_id)
  return examples.map(({ feature, task_id, at }) => {
    const url = `/api/v1/tasks/${encodeURIComponent(task_id)}`
    const found = (findingsOf.get(task_id) ?? []).slice(0, maxExampleFindings)
    return {
      feature,
      example: {
        task_id,
        at,
        url,
        findings: found.map(({ task_id: _, ...shown }) => ({ ...shown, url: `${url}/findings` })),
        incidents: (incidentsOf.get(task_id) ?? []).map(({ task_id: _, ...shown }) => ({
          ...shown,
          url: `/api/v2/observability/incidents/${shown.incident_id}`,
        })),
      },
    }
  })
}

/** Details of a found feature, in addition to its counts. */
type FeatureDetails = {
  feature: string
  /**
   * Earliest last vote of a task in the window with the feature and negative feedback; ISO 8601.
   */
  since: string
}

/** Reads when features first had negative feedback: by the day if counted by groups of users. */
async function readDetails(
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
async function estimateUsers(
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
type Example = { feature: string; task_id: string; at: string }

/**
 * Returns the newest tasks with negative feedback of each feature, at most `limit` of each. Reads
 * only the newest days with such tasks.
 */
async function readExamples(
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
type TaskFinding = {
  task_id: string
  finding_id: string
  type: string
  severity: Severity
}

/** Returns findings of tasks that were not withdrawn, the most severe first. */
async function findingsOfTasks(
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
