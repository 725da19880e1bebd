import { type InsightTables, type Selectable, sql } from '../../../platform/relational/index.ts'
import { type ClaimLabel, claimLabelsOf, putClaimLabels } from '../../verification/index.ts'
import type { InsightDb } from '../contract.ts'
import type { GivenLabel } from './kappa.ts'

/** The closed list of labels. */
export const reviewLabels = ['correct', 'incorrect', 'partly', 'unclear'] as const
type ReviewLabel = (typeof reviewLabels)[number]

/** The key of a label: its task and reviewer. */
export type LabelKey = { project_id: string; task_id: string; reviewer: string }

/** A verdict on a finding. */
type FindingVerdict = { finding_id: string; is_right: boolean }

/** A stored label with its verdicts on findings and claims. */
export type StoredLabel = Selectable<InsightTables['review_labels']> & {
  findings: FindingVerdict[]
  claims: ClaimLabel[]
}

/** A label to store. */
export type NewLabel = {
  label: ReviewLabel
  findings: readonly FindingVerdict[]
  claims: readonly ClaimLabel[]
  at: Date
}

/** Returns the ids among these that are findings of the task. */
export async function ownFindings(
  db: InsightDb,
  { project_id, task_id }: Omit<LabelKey, 'reviewer'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('findings')
    .select('finding_id')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('finding_id', 'in', ids)
    .execute()
  return new Set(rows.map(({ finding_id }) => finding_id))
}

/**
 * Stores the label of a reviewer with all its verdicts. Replaces an earlier label. Throws
 * `invalid_request` for claims that are not of the task; then nothing is stored.
 */
export function putLabel(db: InsightDb, key: LabelKey, given: NewLabel): Promise<void> {
  return db.transaction().execute((trx) => writeLabel(trx, key, given))
}

async function writeLabel(
  trx: InsightDb,
  key: LabelKey,
  { label, findings, claims, at }: NewLabel,
): Promise<void> {
  await trx
    .insertInto('review_labels')
    .values({ ...key, label, created_at: at, updated_at: at })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'task_id', 'reviewer']).doUpdateSet({
        label,
        version: sql`review_labels.version + 1`,
        updated_at: at,
      }),
    )
    .execute()
  await deleteOf(trx, 'review_finding_labels', key)
  await sql`
    insert into review_finding_labels (project_id, task_id, reviewer, finding_id, detector,
      detector_version, type, is_right, updated_at)
    select project_id, task_id, ${key.reviewer}, finding_id, detector, detector_version, type,
      given.is_right, ${at}
    from findings
    join jsonb_to_recordset(${JSON.stringify(findings)}::jsonb)
      as given (finding_id uuid, is_right boolean) using (finding_id)
    where project_id = ${key.project_id} and task_id = ${key.task_id}`.execute(trx)
  await putClaimLabels(trx, key, { claims, at })
  await deleteOf(trx, 'review_claims', key)
}

/** Deletes the label of a reviewer; returns whether there was one. */
export async function deleteLabel(db: InsightDb, key: LabelKey): Promise<boolean> {
  return deleteOf(db, 'review_labels', key)
}

async function deleteOf(
  db: InsightDb,
  table: 'review_labels' | 'review_finding_labels' | 'review_claims',
  { project_id, task_id, reviewer }: LabelKey,
): Promise<boolean> {
  const deleted = await db
    .deleteFrom(table)
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('reviewer', '=', reviewer)
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}

/** Returns the labels of tasks, in order of task and reviewer. */
export async function labelsOfTasks(
  db: InsightDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<StoredLabel[]> {
  const { rows } = await sql<Omit<StoredLabel, 'claims'>>`
    select label.*, coalesce((
      select jsonb_agg(jsonb_build_object('finding_id', finding_id, 'is_right', is_right)
        order by finding_id)
      from review_finding_labels as finding
      where finding.project_id = label.project_id and finding.task_id = label.task_id
        and finding.reviewer = label.reviewer), '[]') as findings
    from review_labels as label
    where label.project_id = ${project_id} and label.task_id = any(${[...task_ids]})
    order by label.task_id, label.reviewer`.execute(db)
  const claims = Map.groupBy(await claimLabelsOf(db, project_id, task_ids), labelOf)
  return rows.map((label) => ({
    ...label,
    claims: (claims.get(labelOf(label)) ?? []).map(({ claim_id, verdict, reason }) => {
      return { claim_id, verdict, reason }
    }),
  }))
}

function labelOf({ task_id, reviewer }: Omit<LabelKey, 'project_id'>): string {
  return JSON.stringify([task_id, reviewer])
}

/** Returns the newest labels of a window, at most `limit`. */
export async function labelsOfWindow(
  db: InsightDb,
  { project_id, from, to }: { project_id: string; from: string; to: string },
  limit: number,
): Promise<GivenLabel[]> {
  const rows = await db
    .selectFrom('review_labels')
    .select(['task_id as item', 'reviewer', 'label'])
    .where('project_id', '=', project_id)
    .where('updated_at', '>=', from)
    .where('updated_at', '<', to)
    .orderBy('updated_at', 'desc')
    .orderBy('task_id')
    .orderBy('reviewer')
    .limit(limit)
    .execute()
  return rows
}

/** A reviewed finding: the numbers of reviewers who found it right and wrong, and its user. */
export type ReviewedFinding = {
  detector: string
  type: string
  right: number
  wrong: number
  cluster: string
}

/** Returns the newest reviewed findings of a window that were not withdrawn, at most `limit`. */
export async function reviewedFindings(
  db: InsightDb,
  { project_id, from, to }: { project_id: string; from: string; to: string },
  limit: number,
): Promise<ReviewedFinding[]> {
  const { rows } = await sql<ReviewedFinding>`
    select label.detector, label.type,
      (count(*) filter (where is_right))::int as right,
      (count(*) filter (where not is_right))::int as wrong,
      coalesce('user:' || tasks.user_id, 'conversation:' || tasks.conversation_id,
        'task:' || tasks.task_id) as cluster
    from review_finding_labels as label
    join tasks on tasks.project_id = label.project_id and tasks.task_id = label.task_id
    left join findings on findings.finding_id = label.finding_id
    where label.project_id = ${project_id} and label.updated_at >= ${from}
      and label.updated_at < ${to} and findings.state is distinct from 'withdrawn'
    group by label.finding_id, label.detector, label.type, cluster
    order by max(label.updated_at) desc, label.finding_id limit ${limit}`.execute(db)
  return rows
}
