import { scenarioEnvironment } from '../../../../model/reserved-environment.ts'
import { type Severity, severities } from '../../../../model/severity.ts'
import { type Fragment, sql } from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { IncidentRoutesDb } from '../contract.ts'
import { factorWeights, findingRisks, recoveredShare } from './risk.ts'
import type { AlertWindow } from './window.ts'

/** A task with findings, failures or low trust, which stands for tasks like it. */
export type RiskyTask = {
  task_id: string
  name: string
  state: 'running' | 'completed' | 'failed'
  calls: number
  errors: number
  started_at: string
  last_activity_at: string
  /** 0–1; null for a task that was not verified. */
  trust_score: number | null
  /** Share of negative votes of end users, 0–1; null without votes. */
  negative_feedback: number | null
  /** Tasks of the window with the same name, the same worst finding and the same end; 1 or more. */
  similar_tasks: number
}

/** Place of a task in the order of risk. Ranks are those of severities, 1–5; 0 without. */
export type RiskPlace = {
  /** The highest severity of its unresolved incidents. */
  incident_rank: number
  /** The highest severity of its open findings. */
  finding_rank: number
  /** The weighted sum of `riskOf`. */
  weighted: number
  last_activity_at: string
  task_id: string
}

/** Which risky tasks are read. */
export type RiskyPage = AlertWindow & { after: RiskPlace | undefined; limit: number }

/** Tasks below this trust are listed without a finding or a failure too. */
const trust_low = 0.5
/** Tasks with at least this share of negative votes are listed without a finding or a failure too. */
const negativeFeedbackHigh = 0.5

/**
 * Returns tasks of a window by their unresolved incidents, then their open findings, then their risk,
 * without the seeded scenario. Of tasks that are alike the first is returned. `counted` counts those.
 */
export async function selectRiskyTasks(
  db: IncidentRoutesDb,
  project_id: string,
  { from, to, after, limit }: RiskyPage,
): Promise<{ tasks: (RiskyTask & RiskPlace)[]; counted: number }> {
  const { rows } = await sql<RiskyTask & RiskPlace & { counted: number }>`
    with unresolved as (
      select rank, group_values, evidence from incidents
      where project_id = ${project_id} and state <> 'resolved' and not shadow
    ), by_task as (
      select item ->> 'task_id' as task_id, max(rank) as rank
      from unresolved, jsonb_array_elements(evidence) as item
      where item ? 'task_id' group by 1
    ), by_name as (
      select group_values ->> 'task_name' as name, max(rank) as rank
      from unresolved where group_values ? 'task_name' group by 1
    ), risky as (
      select tasks.task_id, tasks.name, state, calls, errors, started_at, last_activity_at,
        trust_score, negative_feedback,
        greatest(by_task.rank, by_name.rank, 0) as incident_rank
      from tasks left join lateral (
        select negative::float / nullif(negative + neutral + positive, 0) as negative_feedback
        from feedback_tasks as votes
        where votes.project_id = tasks.project_id and votes.task_id = tasks.task_id
          and votes.attached
      ) as votes on true
      left join by_task on by_task.task_id = tasks.task_id
      left join by_name on by_name.name = tasks.name
      where project_id = ${project_id} and last_activity_at >= ${from} and last_activity_at < ${to}
        and environment is distinct from ${scenarioEnvironment}
        and (worst_severity > 0 or state = 'failed' or errors > 0 or by_task.rank > 0
          or trust_score < ${trust_low} or negative_feedback >= ${negativeFeedbackHigh})
    ), found as (
      select task_id, 1 - exp(sum(ln(1 - ${findingRisk()}))) as value,
        coalesce(max(${severityRank()}) filter (where state = 'open'), 0) as finding_rank,
        (array_agg(type order by ${findingRisk()} desc, type))[1] as worst_type
      from findings
      where project_id = ${project_id} and state <> 'withdrawn'
        and task_id in (select task_id from risky)
      group by task_id
    ), placed as (
      select risky.*, coalesce(finding_rank, 0) as finding_rank, ${weightedRisk()} as weighted,
        coalesce(nullif(name, ''), task_id) as alike, worst_type, state = 'failed' as is_failed
      from risky left join found using (task_id)
    ), numbered as (
      select *,
        row_number() over (partition by alike, worst_type, is_failed order by ${riskOrder}) as place,
        (count(*) over (partition by alike, worst_type, is_failed))::int as similar_tasks
      from placed
    ), first as (
      select *, (count(*) over ())::int as counted from numbered where place = 1
    )
    select task_id, name, state, calls, errors, started_at, last_activity_at, trust_score,
      negative_feedback, similar_tasks, incident_rank, finding_rank, weighted, counted
    from first where ${isAfter(after)} order by ${riskOrder} limit ${limit}`.execute(db)
  return {
    tasks: rows.map(({ counted: _, ...task }) => task),
    counted: rows[0]?.counted ?? 0,
  }
}

const riskOrder = sql`incident_rank desc, finding_rank desc, weighted desc, last_activity_at desc, task_id`

function isAfter(after: RiskPlace | undefined): Fragment<boolean> {
  if (after === undefined) return sql<boolean>`true`
  const { incident_rank, finding_rank, weighted, last_activity_at, task_id } = after
  const place = sql`(${incident_rank}::int, ${finding_rank}::int, ${weighted}::float, ${last_activity_at}::timestamptz)`
  return sql<boolean>`((incident_rank, finding_rank, weighted, last_activity_at) < ${place}
    or ((incident_rank, finding_rank, weighted, last_activity_at) = ${place} and task_id > ${task_id}))`
}

/** The risk of a task in SQL, with the numbers of `riskOf`. */
function weightedRisk(): Fragment<number> {
  const { findings, failures, trust, feedback } = factorWeights
  return sql<number>`((coalesce(found.value, 0) * ${findings}::float
    + case when state = 'failed' then 1
        else least(errors::float / greatest(calls, 1), 1) end * ${failures}::float
    + coalesce(1 - trust_score, 0) * ${trust}::float
    + coalesce(negative_feedback, 0) * ${feedback}::float)
    / (${findings}::float + ${failures}::float
      + case when trust_score is null then 0 else ${trust}::float end
      + case when negative_feedback is null then 0 else ${feedback}::float end))`
}

function severityRank(): Fragment<number> {
  const cases = severities.map((severity, at) => sql`when ${severity} then ${at + 1}::int`)
  return sql<number>`(case severity ${sql.join(cases, sql` `)} end)`
}

/** Returns whether a task of the project was verified, other than those of the seeded scenario. */
export async function hasTrust(db: IncidentRoutesDb, project_id: string): Promise<boolean> {
  const found = await db
    .selectFrom('tasks')
    .select('task_id')
    .where('project_id', '=', project_id)
    .where('trust_score', 'is not', null)
    .where(sql<boolean>`environment is distinct from ${scenarioEnvironment}`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Returns whether a task of the project has votes of end users, other than the seeded scenario. */
export async function hasFeedback(db: IncidentRoutesDb, project_id: string): Promise<boolean> {
  const { rows } = await sql`
    select from feedback_tasks
    where project_id = ${project_id} and attached and negative + neutral + positive > 0
      and environment is distinct from ${scenarioEnvironment}
    limit 1`.execute(db)
  return rows.length > 0
}

/** The risk of a finding in SQL, with the numbers of `riskOf`. */
function findingRisk(): Fragment<number> {
  const cases = severities.map(
    (severity) => sql`when ${severity} then ${findingRisks[severity]}::float`,
  )
  return sql<number>`(case severity ${sql.join(cases, sql` `)} end
    * confidence * case state when 'recovered' then ${recoveredShare}::float else 1 end)`
}

/** A finding of a risky task. */
export type RiskyFinding = {
  finding_id: string
  task_id: string
  kind: string
  type: string
  severity: Severity
  state: 'open' | 'recovered'
  confidence: number
  summary: string
}

/** Returns the findings of tasks that were not withdrawn, the most severe first. */
export async function selectTaskFindings(
  db: IncidentRoutesDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<RiskyFinding[]> {
  const { rows } = await sql<RiskyFinding>`
    select finding_id, task_id, kind, type, severity, state, confidence, summary
    from findings
    where project_id = ${project_id} and state <> 'withdrawn' and task_id = any(${[...task_ids]})
    order by ${findingRisk()} desc, finding_id`.execute(db)
  return rows
}

/** An incident with evidence of a task. */
export type TaskIncident = { task_id: string; incident_id: string; number: number; state: string }

/** Returns the incidents with evidence of tasks, the newest first. */
export async function selectTaskIncidents(
  db: IncidentDb,
  project_id: string,
  { task_ids, since }: { task_ids: readonly string[]; since: string },
): Promise<TaskIncident[]> {
  const { rows } = await sql<TaskIncident>`
    select distinct item->>'task_id' as task_id, id as incident_id, number, state
    from incidents, jsonb_array_elements(evidence) as item
    where project_id = ${project_id} and updated_at >= ${since}
      and item->>'task_id' = any(${[...task_ids]})
    order by number desc`.execute(db)
  return rows
}
