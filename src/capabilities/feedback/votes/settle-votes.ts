import type { FeedbackTables } from '../../../platform/relational/index.ts'
import { type Selectable, sql } from '../../../platform/relational/index.ts'
import type { FeedbackDb } from '../ports.ts'
import {
  type Candidate,
  chooseVote,
  type FeedbackSource,
  type HourChange,
  hourChanges,
  type Vote,
  type VoteChange,
} from './vote.ts'

/** A stored task with feedback. */
export type FeedbackTaskRow = Selectable<FeedbackTables['feedback_tasks']>

/** The items of one subject on a task. */
type Subject = { source: FeedbackSource; subject: string }

/**
 * Changes one subject's items, then updates the vote in the same transaction: the flag `counts`,
 * the hourly counts and the counts of the task. `change` receives the time of the change: now, or
 * one millisecond after the subject's last change if clocks of processes differ. Lock the task's
 * row first.
 */
export async function settleVotes<T>(
  trx: FeedbackDb,
  task: FeedbackTaskRow,
  subject: Subject & { now_ms: number },
  change: (at: string) => Promise<T>,
): Promise<T> {
  const before = await findCandidates(trx, task, subject)
  const last_ms = Math.max(0, ...before.map(({ updated_at }) => Date.parse(updated_at)))
  const result = await change(new Date(Math.max(subject.now_ms, last_ms + 1)).toISOString())
  if (!task.attached) return result
  const after = await findCandidates(trx, task, subject)
  await replaceVotes(trx, task, {
    before: before.filter(isCounted),
    after: [chooseVote(after.filter(({ is_standing }) => is_standing))].filter(isPresent),
  })
  return result
}

/** Updates the votes of all subjects after items were attached to the task. */
export async function countAllVotes(trx: FeedbackDb, task: FeedbackTaskRow): Promise<void> {
  const items = await findCandidates(trx, task)
  const standing = items.filter(({ is_standing }) => is_standing)
  const bySubject = Map.groupBy(standing, ({ source, subject }) => `${source} ${subject}`)
  const after = [...bySubject.values()].map(chooseVote).filter(isPresent)
  await replaceVotes(trx, task, { before: items.filter(isCounted), after })
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}

type Found = Candidate & { counts: boolean; is_standing: boolean }

function isCounted(item: Found): item is Found & Vote {
  return item.counts && item.sentiment !== null
}

/** Returns the items that count or could count. */
async function findCandidates(
  trx: FeedbackDb,
  { project_id, task_id }: FeedbackTaskRow,
  only?: Subject,
): Promise<Found[]> {
  return trx
    .selectFrom('feedback')
    .select(['feedback_id', 'source', 'subject', 'sentiment', 'labels', 'at', 'by_browser'])
    .select(['updated_at', 'counts'])
    .select(sql<boolean>`state = 'attached'`.as('is_standing'))
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .$if(only !== undefined, (query) =>
      query
        .where('source', '=', only?.source ?? 'end_user')
        .where('subject', '=', only?.subject ?? ''),
    )
    .execute()
}

async function replaceVotes(
  trx: FeedbackDb,
  task: FeedbackTaskRow,
  { before, after }: { before: readonly Vote[]; after: readonly Vote[] },
): Promise<void> {
  await setCounts(trx, task, { votes: before, counts: false })
  await setCounts(trx, task, { votes: after, counts: true })
  const changes: VoteChange[] = [
    ...before.map((vote) => ({ vote, by: -1 as const })),
    ...after.map((vote) => ({ vote, by: 1 as const })),
  ]
  await addToTask(trx, task, changes)
  await addToHours(trx, task.project_id, hourChanges(task, changes))
}

async function setCounts(
  trx: FeedbackDb,
  { project_id, task_id }: FeedbackTaskRow,
  { votes, counts }: { votes: readonly Vote[]; counts: boolean },
): Promise<void> {
  if (votes.length === 0) return
  await sql`
    update feedback set counts = ${counts}
    where project_id = ${project_id} and task_id = ${task_id}
      and feedback_id = any(${votes.map(({ feedback_id }) => feedback_id)}::text[])
  `.execute(trx)
}

async function addToTask(
  trx: FeedbackDb,
  { project_id, task_id }: FeedbackTaskRow,
  changes: readonly VoteChange[],
): Promise<void> {
  const sums = { negative: 0, neutral: 0, positive: 0 }
  for (const { vote, by } of changes) {
    if (vote.source === 'end_user') sums[vote.sentiment] += by
  }
  if (Object.values(sums).every((sum) => sum === 0)) return
  await sql`
    update feedback_tasks set negative = negative + ${sums.negative},
      neutral = neutral + ${sums.neutral}, positive = positive + ${sums.positive}
    where project_id = ${project_id} and task_id = ${task_id}
  `.execute(trx)
}

/** Adds to the hourly counts. Rows are locked in the order of their keys. */
async function addToHours(
  trx: FeedbackDb,
  project_id: string,
  changes: readonly HourChange[],
): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into feedback_hours as hours
      (project_id, source, dimension, hour, environment, value, negative, neutral, positive)
    select ${project_id}::uuid, source, dimension, hour, environment, value,
      negative, neutral, positive
    from json_to_recordset(${JSON.stringify(changes)}::json) as given (
      source text, dimension text, hour timestamptz, environment text, value text,
      negative int, neutral int, positive int)
    on conflict (project_id, source, dimension, hour, environment, value) do update set
      negative = hours.negative + excluded.negative,
      neutral = hours.neutral + excluded.neutral,
      positive = hours.positive + excluded.positive
  `.execute(trx)
}
