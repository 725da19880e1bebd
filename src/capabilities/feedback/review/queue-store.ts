import type { Severity } from '../../../model/severity.ts'
import { type Fragment, sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'
import type { HourWindow } from '../counting/window.ts'

/** Filters of the queue. Tasks are those with activity in the window. */
export type QueueFilter = HourWindow & {
  project_id: string
  /** `user:<id>` or `service_account:<id>`. */
  reviewer: string
  /** ISO 8601. */
  now: string
  /** Reviewers that a task needs. */
  reviewers: number
  name?: string | undefined
  release?: string | undefined
  finding_type?: string | undefined
}

/** Maximum tasks in the queue for each reason. */
export const candidates_max = 1_000
/** Trust score below which a task is in the queue. */
const trust_low = 0.8

/** A task that may need a review. */
export type Candidate = {
  task_id: string
  name: string
  release: string | null
  started_at: string
  trust: number | null
  coverage: number | null
  is_negative: boolean
  /** Labels of all reviewers. */
  labels: number
}

/**
 * Returns the tasks that the queue can offer to a reviewer: those with the most severe findings,
 * the lowest trust and the newest negative feedback of end users, at most `candidates_max` of each.
 * Excludes tasks that have enough labels, that the reviewer has labelled or skipped, and that other
 * reviewers have claimed.
 */
export async function selectCandidates(db: InsightDb, filter: QueueFilter): Promise<Candidate[]> {
  const { project_id, reviewer, now, reviewers } = filter
  const inWindow = isWanted(filter)
  const chosen = (condition: Fragment<boolean>, order: Fragment<unknown>) => sql`(
    select task_id from tasks
    where project_id = ${project_id} and ${condition} and ${inWindow} and ${isFree(filter)}
    order by ${order}, task_id limit ${candidates_max})`
  const { rows } = await sql<Candidate>`
    with chosen as (
      ${chosen(sql`worst_severity > 1`, sql`worst_severity desc`)}
      union ${chosen(sql`trust_score < ${trust_low}`, sql`trust_score`)}
      union (
        select task_id from tasks
        where project_id = ${project_id} and ${inWindow} and ${isFree(filter)} and task_id in (
          select task_ref from feedback_tasks
          where project_id = ${project_id} and negative > 0 and last_at >= ${filter.from}
            and task_ref is not null
          order by last_at desc limit ${candidates_max})
      )
    )
    select task_id, name, release, started_at, trust_score as trust, trust_coverage as coverage,
      exists (select from feedback_tasks as rated
        where rated.project_id = ${project_id} and rated.task_ref = tasks.task_id
          and rated.negative > 0) as is_negative,
      (select count(*)::int from review_labels as label
        where label.project_id = ${project_id} and label.task_id = tasks.task_id) as labels
    from chosen join tasks using (task_id)
    where tasks.project_id = ${project_id}
      and (select count(*) from review_labels as label
        where label.project_id = ${project_id} and label.task_id = tasks.task_id)
        + (select count(*) from review_claims as claim
          where claim.project_id = ${project_id} and claim.task_id = tasks.task_id
            and claim.state = 'claimed' and claim.until > ${now} and claim.reviewer <> ${reviewer})
        < ${reviewers}`.execute(db)
  return rows
}

function isWanted({ from, to, name, release, finding_type, project_id }: QueueFilter) {
  return sql<boolean>`last_activity_at >= ${from} and started_at < ${to}
    and (${name ?? null}::text is null or name = ${name ?? null})
    and (${release ?? null}::text is null or release = ${release ?? null})
    and (${finding_type ?? null}::text is null or exists (
      select from findings where findings.project_id = ${project_id}
        and findings.task_id = tasks.task_id and findings.type = ${finding_type ?? null}
        and findings.state <> 'withdrawn'))`
}

/** Matches tasks that the reviewer has not labelled or skipped. */
function isFree({ project_id, reviewer, now }: QueueFilter) {
  return sql<boolean>`not exists (
      select from review_labels as label where label.project_id = ${project_id}
        and label.task_id = tasks.task_id and label.reviewer = ${reviewer})
    and not exists (
      select from review_claims as skip where skip.project_id = ${project_id}
        and skip.task_id = tasks.task_id and skip.reviewer = ${reviewer}
        and skip.state = 'skipped' and skip.until > ${now})`
}

/** A finding of a task in the queue. */
export type QueueFinding = {
  task_id: string
  finding_id: string
  detector: string
  type: string
  severity: Severity
  state: 'open' | 'recovered'
  confidence: number
  summary: string
}

/** Returns the findings of tasks that were not withdrawn. */
export async function findingsOfQueue(
  db: InsightDb,
  project_id: string,
  task_ids: string[],
): Promise<QueueFinding[]> {
  const { rows } = await sql<QueueFinding>`
    select task_id, finding_id, detector, type, severity, state, confidence, summary
    from findings
    where project_id = ${project_id} and task_id = any(${task_ids}) and state <> 'withdrawn'
    order by array_position(array['critical', 'high', 'medium', 'low', 'info'], severity),
      finding_id`.execute(db)
  return rows
}

/** Returns the ends of a reviewer's active claims, by task. */
export async function claimsOf(
  db: InsightDb,
  { project_id, reviewer, now }: Pick<QueueFilter, 'project_id' | 'reviewer' | 'now'>,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ task_id: string; until: string }>`
    select task_id, until from review_claims
    where project_id = ${project_id} and reviewer = ${reviewer} and state = 'claimed'
      and until > ${now} order by task_id limit ${candidates_max}`.execute(db)
  return new Map(rows.map(({ task_id, until }) => [task_id, until]))
}

/** Locks the queue of the project until the transaction ends. */
export async function lockQueue(trx: InsightDb, project_id: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`review ${project_id}`}, 0))`.execute(trx)
}

/** Claims tasks for a reviewer until an instant, or notes that the reviewer skips them. */
export async function putClaims(
  trx: InsightDb,
  { project_id, reviewer, now }: Pick<QueueFilter, 'project_id' | 'reviewer' | 'now'>,
  { task_ids, state, until }: { task_ids: string[]; state: 'claimed' | 'skipped'; until: string },
): Promise<void> {
  await sql`
    delete from review_claims
    where project_id = ${project_id} and until <= ${now}`.execute(trx)
  await sql`
    insert into review_claims (project_id, task_id, reviewer, state, until)
    select ${project_id}, task_id, ${reviewer}, ${state}, ${until}::timestamptz
    from unnest(${task_ids}::text[]) as task_id
    on conflict (project_id, task_id, reviewer) do update set
      state = excluded.state, until = excluded.until`.execute(trx)
}
