import type { RetentionDb } from '../retention-deps.ts'

/** Archive runs of one receipt: thirty years of daily ones. */
const runs_max = 10_000

/** The archive runs of a project whose files exist or are being written, newest first. */
export async function archiveRuns(db: RetentionDb, project_id: string): Promise<string[]> {
  const runs = await db
    .selectFrom('job_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('kind', '=', 'archive')
    .where('state', 'in', ['queued', 'running', 'succeeded'])
    .orderBy('id', 'desc')
    .limit(runs_max)
    .execute()
  return runs.map(({ id }) => id)
}
