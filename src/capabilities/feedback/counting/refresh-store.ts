import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'

/** Number of groups that clusters are hashed into. A power of two, at most 256. */
export const buckets = 64

/** Maximum features of a task, and characters of a feature. */
const features_max = 64
const feature_chars_max = 200

/**
 * Computes the due rows of rated tasks of a project, at most `tasks_max`, and adds the differences
 * to the counts, in one transaction. Tasks that another transaction is changing stay due. Returns
 * the number of computed tasks.
 */
export function refreshRatedTasks(
  db: InsightDb,
  project_id: string,
  tasks_max: number,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    // One transaction of a project at a time changes counts, so transactions never share rows.
    await sql`
      select pg_advisory_xact_lock(hashtextextended(${`rated_tasks ${project_id}`}, 0))`.execute(
      trx,
    )
    const ids = await lockDueTasks(trx, project_id, tasks_max)
    const { rows } = await sql<{ task_id: string }>`
      delete from rated_tasks_due
      where project_id = ${project_id} and task_id in (
        select task_id from rated_tasks_due
        where project_id = ${project_id} and task_id = any(${ids}) for update skip locked)
      returning task_id`.execute(trx)
    // A separate statement after the delete, so that it sees every change behind the deleted marks.
    const deleted = rows.map(({ task_id }) => task_id)
    if (deleted.length > 0) await computeTasks(trx, project_id, deleted)
    return deleted.length
  })
}

/**
 * Locks the feedback of due tasks, and returns the tasks. A change of feedback locks the task
 * before it marks the task as due, so counting has to lock in the same order.
 */
async function lockDueTasks(
  trx: InsightDb,
  project_id: string,
  tasks_max: number,
): Promise<string[]> {
  const { rows: due } = await sql<{ task_id: string; is_known: boolean }>`
    select task_id, exists (select from feedback_tasks as task
      where task.project_id = due.project_id and task.task_id = due.task_id) as is_known
    from rated_tasks_due as due where project_id = ${project_id}
    order by task_id limit ${tasks_max}`.execute(trx)
  const known = due.filter(({ is_known }) => is_known).map(({ task_id }) => task_id)
  const { rows: locked } = await sql<{ task_id: string }>`
    select task_id from feedback_tasks
    where project_id = ${project_id} and task_id = any(${known})
    order by task_id for key share skip locked`.execute(trx)
  const unknown = due.filter(({ is_known }) => !is_known)
  return [...locked, ...unknown].map(({ task_id }) => task_id)
}

/** Returns projects with due tasks, at most `limit`. */
export async function findDueProjects(db: InsightDb, limit: number): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select distinct project_id from rated_tasks_due order by project_id limit ${limit}`.execute(db)
  return rows.map(({ project_id }) => project_id)
}

async function computeTasks(trx: InsightDb, project_id: string, ids: string[]): Promise<void> {
  const key = sql`project_id = ${project_id} and task_id = any(${ids})`
  await sql`
    with before as (
      select * from rated_tasks where ${key}
    ), voted as (
      select vote.source, vote.task_id, max(vote.at) as at,
        count(*)::int as votes,
        (count(*) filter (where vote.sentiment = 'negative'))::int as negative_votes
      from feedback as vote
      where ${key} and vote.counts and vote.state = 'attached' and vote.sentiment is not null
      group by vote.source, vote.task_id
    ), rated as (
      select voted.*, task.task_ref, 2 * negative_votes >= votes as is_negative,
        coalesce(task.cluster, 'task:' || task_id) as cluster,
        ${featuresOf(project_id)} as features
      from voted join feedback_tasks as task using (task_id)
      where task.project_id = ${project_id} and task.task_ref is not null
        and task.environment is distinct from ${scenarioEnvironment}
    ), now as (
      select *, (get_byte(decode(md5(cluster), 'hex'), 0) & ${buckets - 1})::smallint as bucket
      from rated
    ), put as (
      insert into rated_tasks (project_id, source, task_id, task_ref, at, cluster, bucket, is_negative, votes,
        negative_votes, features)
      select ${project_id}, source, task_id, task_ref, at, cluster, bucket, is_negative, votes,
        negative_votes, features
      from now
      on conflict (project_id, source, task_id) do update set
        at = excluded.at, cluster = excluded.cluster, bucket = excluded.bucket,
        is_negative = excluded.is_negative, votes = excluded.votes,
        negative_votes = excluded.negative_votes, features = excluded.features
    ), removed as (
      delete from rated_tasks where ${key}
        and not exists (select from now
          where now.source = rated_tasks.source and now.task_id = rated_tasks.task_id)
    ), changes as (
      select source, at, bucket, features, is_negative, votes, negative_votes, 1 as tasks from now
      union all
      select source, at, bucket, features, is_negative, -votes, -negative_votes, -1 from before
    ), differences as (
      select source, (at at time zone 'UTC')::date as day, feature, bucket,
        sum(tasks) as tasks, sum(case when is_negative then tasks else 0 end) as negative_tasks,
        sum(votes) as votes, sum(negative_votes) as negative_votes
      from changes, unnest(array_append(features, '')) as feature
      group by 1, 2, 3, 4
    )
    insert into rated_task_counts as stored (project_id, source, day, feature, bucket, tasks,
      negative_tasks, votes, negative_votes)
    select ${project_id}, source, day, feature, bucket, tasks, negative_tasks, votes, negative_votes
    from differences
    where tasks <> 0 or negative_tasks <> 0 or votes <> 0 or negative_votes <> 0
    on conflict (project_id, source, day, feature, bucket) do update set
      tasks = stored.tasks + excluded.tasks,
      negative_tasks = stored.negative_tasks + excluded.negative_tasks,
      votes = stored.votes + excluded.votes,
      negative_votes = stored.negative_votes + excluded.negative_votes`.execute(trx)
}

/**
 * Builds the features of a task, without labels of the same source: a label is the reason for
 * a vote, so every negative label would be a pattern.
 */
function featuresOf(project_id: string) {
  const same = (table: string) =>
    sql`${sql.ref(`${table}.project_id`)} = ${project_id}
      and ${sql.ref(`${table}.task_id`)} = task.task_ref`
  return sql`array(
    select left(kind || ':' || value, ${feature_chars_max}) as feature from (
      select 'task_name' as kind, task.task_name as value
      union select 'release', task.release
      union select 'environment', task.environment
      union select 'model', model from unnest(task.models) as model
      union select 'tool', tool from task_detections as run, unnest(run.tools) as tool
        where ${same('run')}
      union select 'finding', type from findings
        where ${same('findings')} and state <> 'withdrawn'
      union select 'finding_kind', finding.kind from findings as finding
        where ${same('finding')} and finding.state <> 'withdrawn'
      union select 'label', label from feedback as item, unnest(item.labels) as label
        where item.project_id = ${project_id} and item.task_id = voted.task_id
          and item.source <> voted.source
          and item.state = 'attached'
      union select 'review', review.label from review_labels as review where ${same('review')}
      union select 'state', tasks.state from tasks where ${same('tasks')} and tasks.state = 'failed'
    ) as found
    where value <> '' group by 1 order by 1 limit ${features_max})`
}
