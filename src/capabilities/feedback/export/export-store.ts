import { sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'

/** A task of a trace; other implicit tasks have ids of their own. */
const traceId = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** Maximum items of feedback and findings of a task in an export, the newest and most severe. */
export const items_max = 100
export const findings_max = 100

/** Filters of the export. Instants are ISO 8601, and apply to the start of a task. */
export type ExportFilter = {
  project_id: string
  from?: string | undefined
  to?: string | undefined
  /** Only tasks with a label of a reviewer. */
  labelled: boolean
  /** Only tasks after this task id. */
  after: string
  limit: number
}

/** Returns ids of tasks with feedback or labels, in order. */
export async function findExported(db: InsightDb, filter: ExportFilter): Promise<string[]> {
  const { project_id, from = null, to = null, labelled, after, limit } = filter
  const rated = labelled
    ? sql``
    : sql`union (
        select task_ref from feedback_tasks
        where project_id = ${project_id} and task_ref is not null and task_ref > ${after}
          and (${from}::timestamptz is null or task_started_at >= ${from})
          and (${to}::timestamptz is null or task_started_at < ${to})
        order by task_ref limit ${limit})`
  const { rows } = await sql<{ task_id: string }>`
    select task_id from (
      (select distinct label.task_id
        from review_labels as label join tasks using (project_id, task_id)
        where label.project_id = ${project_id} and label.task_id > ${after}
          and (${from}::timestamptz is null or tasks.started_at >= ${from})
          and (${to}::timestamptz is null or tasks.started_at < ${to})
        order by label.task_id limit ${limit})
      ${rated}
    ) as found
    order by task_id limit ${limit}`.execute(db)
  return rows.map(({ task_id }) => task_id)
}

/** An item of feedback in an export. */
type ExportedItem = {
  feedback_id: string
  source: string
  sentiment: string | null
  rating: number | null
  thumbs: string | null
  labels: string[]
  comment: string | null
  correction: string | null
  counts: boolean
  at: string
}

/** A stored task of an export. */
export type ExportedTask = {
  task_id: string
  name: string
  user_id: string | null
  conversation_id: string | null
  state: string
  started_at: string
  ended_at: string | null
  environment: string | null
  release: string | null
  models: string[]
  tools: string[]
  trust_score: number | null
  trace_ids: string[]
  findings: { finding_id: string; detector: string; type: string; severity: string }[]
  feedback: ExportedItem[]
}

/** Reads tasks with their feedback, findings and traces, in order of their ids. */
export async function readExported(
  db: InsightDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<ExportedTask[]> {
  const same = (table: string) =>
    sql`${sql.ref(`${table}.project_id`)} = tasks.project_id
      and ${sql.ref(`${table}.task_id`)} = tasks.task_id`
  const { rows } = await sql<ExportedTask>`
    select task_id, name, user_id, conversation_id, state, started_at, ended_at, environment, release,
      models, trust_score,
      coalesce((select run.tools from task_detections as run where ${same('run')}), '{}') as tools,
      array(
        select trace_id::text from (
          select unnest(finding.trace_ids) as trace_id from findings as finding
            where ${same('finding')}
          union select check_run.trace_id from verification_runs as check_run
            where ${same('check_run')}
          union select item.trace_id from feedback as item
            join feedback_tasks as rated using (project_id, task_id)
            where rated.project_id = tasks.project_id and rated.task_ref = tasks.task_id
          union select case when tasks.implicit and tasks.task_id ~ ${traceId}
            then tasks.task_id::uuid end
        ) as known where trace_id is not null order by 1 limit 1000
      ) as trace_ids,
      coalesce((
        select jsonb_agg(finding order by finding_id) from (
          select finding_id, detector, type, severity from findings as finding
          where ${same('finding')} and state <> 'withdrawn' order by finding_id
          limit ${findings_max}
        ) as finding), '[]') as findings,
      coalesce((
        select jsonb_agg(item order by at, feedback_id) from (
          select feedback_id, source, sentiment, rating, thumbs, labels, comment, correction, counts,
            to_char(item.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
          from feedback as item join feedback_tasks as rated using (project_id, task_id)
          where rated.project_id = tasks.project_id and rated.task_ref = tasks.task_id
            and item.state = 'attached'
          order by item.at desc, feedback_id limit ${items_max}
        ) as item), '[]') as feedback
    from tasks
    where project_id = ${project_id} and task_id = any(${[...task_ids]})
    order by task_id`.execute(db)
  return rows
}
