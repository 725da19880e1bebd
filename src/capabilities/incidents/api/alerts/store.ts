import { scenarioEnvironment } from '../../../../model/reserved-environment.ts'
import { type Severity, severities } from '../../../../model/severity.ts'
import { type Fragment, sql } from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { IncidentRoutesDb } from '../contract.ts'
import { factorWeights, findingRisks, recoveredShare } from './risk.ts'
import type { AlertWindow } from './window.ts'

/** Numbers of unresolved incidents of live rules with a severity and a signal. */
export type OpenCount = {
  severity: Severity
  signal: string
  open: number
  acknowledged: number
  suppressed: number
  flapping: number
}

/** Counts the unresolved incidents of live rules by severity and signal. */
export async function countUnresolved(db: IncidentDb, project_id: string): Promise<OpenCount[]> {
  const { rows } = await sql<OpenCount>`
    select severity, signal, count(*)::int as open,
      (count(*) filter (where state = 'acknowledged'))::int as acknowledged,
      (count(*) filter (where suppressed))::int as suppressed,
      (count(*) filter (where flapping))::int as flapping
    from incidents
    where project_id = ${project_id} and state <> 'resolved' and not shadow
    group by severity, signal order by severity, signal`.execute(db)
  return rows
}

/** Numbers of incidents of live rules in a window. */
export type WindowCount = { new: number; resolved: number }

/** Counts the incidents of live rules that were opened, or resolved, in a window. */
export async function countInWindow(
  db: IncidentDb,
  project_id: string,
  { from, to }: AlertWindow,
): Promise<WindowCount> {
  const { rows } = await sql<WindowCount>`
    select
      (count(*) filter (where opened_at >= ${from} and opened_at < ${to}))::int as new,
      (count(*) filter (where state = 'resolved'
        and resolved_at >= ${from} and resolved_at < ${to}))::int as resolved
    from incidents where project_id = ${project_id} and not shadow`.execute(db)
  return rows[0] ?? { new: 0, resolved: 0 }
}

/** Statistics of the incidents of live rules that were opened in a window; times in ms. */
export type IncidentStats = {
  opened: number
  acknowledged: number
  resolved: number
  resolved_alone: number
  flapping: number
  ack_median: number | null
  ack_p90: number | null
  resolve_median: number | null
  resolve_p90: number | null
}

/**
 * Returns the statistics of a window. Percentiles are by nearest rank. Time to acknowledge counts from
 * the moment at which the incident was recorded: nobody could see it at the end of its slot.
 */
export async function readStats(
  db: IncidentDb,
  project_id: string,
  { from, to }: AlertWindow,
): Promise<IncidentStats | undefined> {
  const rank = (share: number, column: string) =>
    sql`percentile_disc(${share}::float) within group (order by ${sql.ref(column)})::float`
  const { rows } = await sql<IncidentStats>`
    with opened as (
      select state, moved,
        case when first_acknowledged_at is not null then greatest(0, extract(epoch from
          first_acknowledged_at - coalesce((
            select recorded_at from incident_events as event
            where event.incident_id = incidents.id and event.seq = 1
          ), opened_at)) * 1000) end as ack_ms,
        case when state = 'resolved'
          then extract(epoch from resolved_at - opened_at) * 1000 end as resolve_ms,
        flapping or exists (
          select from incident_events as event
          where event.incident_id = incidents.id and event.type = 'flapping'
        ) as flapped
      from incidents
      where project_id = ${project_id} and not shadow
        and opened_at >= ${from} and opened_at < ${to}
    )
    select count(*)::int as opened, count(ack_ms)::int as acknowledged,
      count(resolve_ms)::int as resolved,
      (count(*) filter (where state = 'resolved' and not moved))::int as resolved_alone,
      (count(*) filter (where flapped))::int as flapping,
      ${rank(0.5, 'ack_ms')} as ack_median, ${rank(0.9, 'ack_ms')} as ack_p90,
      ${rank(0.5, 'resolve_ms')} as resolve_median, ${rank(0.9, 'resolve_ms')} as resolve_p90
    from opened`.execute(db)
  return rows[0]
}

/** A task with findings, failures or low trust. */
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
}

/** Tasks below this trust are listed without a finding or a failure too. */
const trust_low = 0.5
/** Tasks with at least this share of negative votes are listed without a finding or a failure too. */
const negativeFeedback_high = 0.5

/**
 * Returns the tasks of a window with the highest risk, without the seeded scenario. The order is that
 * of `riskOf`; the caller computes the shares.
 */
export async function selectRiskyTasks(
  db: IncidentRoutesDb,
  project_id: string,
  { from, to, limit }: AlertWindow & { limit: number },
): Promise<{ tasks: RiskyTask[]; counted: number }> {
  const { findings, failures, trust, feedback } = factorWeights
  const { rows } = await sql<RiskyTask & { counted: number }>`
    with risky as (
      select task_id, name, state, calls, errors, started_at, last_activity_at, trust_score,
        negative_feedback
      from tasks left join lateral (
        select negative::float / nullif(negative + neutral + positive, 0) as negative_feedback
        from feedback_tasks as votes
        where votes.project_id = tasks.project_id and votes.task_id = tasks.task_id
          and votes.attached
      ) as votes on true
      where project_id = ${project_id} and last_activity_at >= ${from} and last_activity_at < ${to}
        and environment is distinct from ${scenarioEnvironment}
        and (worst_severity > 0 or state = 'failed' or errors > 0
          or trust_score < ${trust_low} or negative_feedback >= ${negativeFeedback_high})
    ), found as (
      select task_id, 1 - exp(sum(ln(1 - ${findingRisk()}))) as value
      from findings
      where project_id = ${project_id} and state <> 'withdrawn'
        and task_id in (select task_id from risky)
      group by task_id
    )
    select risky.*, (count(*) over ())::int as counted
    from risky left join found using (task_id)
    order by (coalesce(found.value, 0) * ${findings}::float
      + case when state = 'failed' then 1
          else least(errors::float / greatest(calls, 1), 1) end * ${failures}::float
      + coalesce(1 - trust_score, 0) * ${trust}::float
      + coalesce(negative_feedback, 0) * ${feedback}::float)
      / (${findings}::float + ${failures}::float
        + case when trust_score is null then 0 else ${trust}::float end
        + case when negative_feedback is null then 0 else ${feedback}::float end) desc,
      last_activity_at desc, task_id
    limit ${limit}`.execute(db)
  return {
    tasks: rows.map(({ counted: _, ...task }) => task),
    counted: rows[0]?.counted ?? 0,
  }
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
