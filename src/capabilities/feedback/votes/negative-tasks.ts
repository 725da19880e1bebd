import type { FeedbackDb } from '../ports.ts'

/**
 * Returns for each task whether its feedback is negative: at least half of the counting votes of
 * end users are negative. Tasks without such votes are missing.
 */
export async function findNegativeTasks(
  db: FeedbackDb,
  { project_id, task_ids }: { project_id: string; task_ids: readonly string[] },
): Promise<Map<string, { is_negative: boolean }>> {
  if (task_ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('feedback_tasks')
    .select(['task_id', 'negative', 'neutral', 'positive'])
    .where('project_id', '=', project_id)
    .where('task_id', 'in', task_ids)
    .where('attached', '=', true)
    .execute()
  return new Map(
    rows.flatMap(({ task_id, negative, neutral, positive }) => {
      const votes = negative + neutral + positive
      return votes === 0 ? [] : [[task_id, { is_negative: 2 * negative >= votes }] as const]
    }),
  )
}
