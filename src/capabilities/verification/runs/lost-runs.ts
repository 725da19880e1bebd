import type { Clock } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { RunsDb } from '../contract.ts'
import type { RunFault } from './limits.ts'
import { refreshTasksTrust } from './store.ts'

const every_ms = 15_000
/** Maximum runs that one pass ends. */
const runs_max = 500

/**
 * Returns the chore that ends pending runs whose job has ended or is missing: each of its attempts
 * killed the worker, or the job was deleted. Without it, the trace could never be verified again.
 */
export function endLostRunsChore({ db, clock }: { db: RunsDb; clock: Clock }): Chore {
  const reason = 'lost runs of all projects are ended by one statement'
  return { name: 'lost verification runs', every_ms, reason, run: () => endLostRuns(db, clock) }
}

async function endLostRuns(db: RunsDb, clock: Clock): Promise<void> {
  const code: RunFault = 'worker_lost'
  const message = 'The worker stopped during each attempt. Verify the trace again.'
  const ended_at = new Date(clock.now_ms()).toISOString()
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ project_id: string; task_id: string | null }>`
      update verification_runs set
        state = 'failed', ended_at = ${ended_at}, error = ${JSON.stringify({ code, message })}
      where id in (
        select run.id from verification_runs as run
        where run.state = 'pending' and not exists (
          select from job_runs where id = run.job_id and state in ('queued', 'running'))
        limit ${runs_max} for update skip locked)
      returning project_id, task_id`.execute(trx)
    for (const [project_id, runs] of Map.groupBy(rows, (row) => row.project_id)) {
      const tasks = runs.flatMap(({ task_id }) => task_id ?? [])
      await runInProject(project_id, () => refreshTasksTrust(trx, project_id, tasks))
    }
  })
}
