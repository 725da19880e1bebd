import { countUpTo, sql } from '../../../platform/relational/index.ts'
import type { InsightDb } from '../contract.ts'
import type { HourWindow } from '../counting/window.ts'
import type { FeedbackSource } from '../votes/vote.ts'

/** Votes that count, by sentiment. */
export type Votes = { negative: number; neutral: number; positive: number }

/** Votes of a source in a bucket of time, or with a label. */
export type SourceVotes = Votes & { source: FeedbackSource; at: string }

const votes = sql`sum(negative)::int as negative, sum(neutral)::int as neutral,
  sum(positive)::int as positive`

/** Returns the votes of each source by bucket of time; buckets without votes are left out. */
export async function votesByTime(
  db: InsightDb,
  project_id: string,
  { from, to, unit }: HourWindow & { unit: 'hour' | 'day' },
): Promise<SourceVotes[]> {
  const { rows } = await sql<SourceVotes>`
    select source, date_trunc(${unit}, hour, 'UTC')::timestamptz(3) as at, ${votes}
    from feedback_hours
    where project_id = ${project_id} and dimension = 'all' and hour >= ${from} and hour < ${to}
    group by 1, 2 order by 1, 2`.execute(db)
  return rows
}

/** Votes with a label. */
export type LabelVotes = Votes & { label: string }

/** Returns the votes of a source by label, the most frequent labels first. */
export async function votesByLabel(
  db: InsightDb,
  { project_id, source, from, to }: HourWindow & { project_id: string; source: FeedbackSource },
  limit: number,
): Promise<LabelVotes[]> {
  const { rows } = await sql<LabelVotes>`
    select value as label, ${votes}
    from feedback_hours
    where project_id = ${project_id} and source = ${source} and dimension = 'label'
      and hour >= ${from} and hour < ${to} and value <> ''
    group by value order by sum(negative + neutral + positive) desc, value limit ${limit}
  `.execute(db)
  return rows
}

/** Items that wait for their task, up to `limit`, and items dropped in a window by reason. */
export async function readWaiting(
  db: InsightDb,
  project_id: string,
  { from, to, limit }: HourWindow & { limit: number },
): Promise<{ pending: number; dropped: { reason: string; items: number }[] }> {
  const waiting = db
    .selectFrom('feedback')
    .select('feedback_id')
    .where('project_id', '=', project_id)
  const [pending, dropped] = await Promise.all([
    countUpTo(db, waiting.where('state', '=', 'pending'), limit),
    sql<{ reason: string; items: number }>`
      select reason, sum(items)::int as items from feedback_drops
      where project_id = ${project_id} and hour >= ${from} and hour < ${to}
      group by reason order by reason`.execute(db),
  ])
  return { pending, dropped: dropped.rows }
}
