import type { Clock } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { CertificationDb } from '../evidence/contract.ts'
import { startJob } from './store.ts'

type Deps = { db: CertificationDb; clock: Clock }

const tend_ms = 5_000
const expire_ms = 600_000
const evalRunsMs = 3_600_000
/** Maximum certifications, or eval runs, of one pass. */
const rows_max = 100

/** Age at which eval runs are deleted with their cases: longer than a certification is valid. */
const evalRunsDays = 400
const day_ms = 86_400_000

/**
 * Returns the chores of certifications: they start those whose window has ended, end those whose
 * job was lost, and delete evidence that has expired and eval runs that are old.
 */
export function certificationChores(deps: Deps): Chore[] {
  return [
    {
      name: 'due certifications',
      every_ms: tend_ms,
      wake: 'certifications',
      reason: 'due certifications of all projects',
      run: () => startDue(deps),
    },
    {
      name: 'lost certifications',
      every_ms: tend_ms,
      wake: 'certifications',
      reason: 'lost certifications of all projects are ended by one statement',
      run: () => endLost(deps),
    },
    {
      name: 'expired certification evidence',
      every_ms: expire_ms,
      reason: 'deletes what expired in all projects',
      run: () => expire(deps),
    },
    {
      name: 'old eval runs',
      every_ms: evalRunsMs,
      reason: 'deletes what is old in all projects',
      run: () => deleteOldRuns(deps),
    },
  ]
}

/** Queues jobs of pending certifications whose window has ended. */
async function startDue({ db, clock }: Deps): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const due = await trx
      .selectFrom('certifications')
      .selectAll()
      .where('state', '=', 'pending')
      .where('job_id', 'is', null)
      .where('window_to', '<=', new Date(clock.now_ms()).toISOString())
      .orderBy('window_to')
      .limit(rows_max)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const row of due) {
      await runInProject(row.project_id, () => startJob(trx, row, clock))
    }
  })
}

/** Ends certifications whose job has ended because each of its attempts killed the worker. */
async function endLost({ db, clock }: Deps): Promise<void> {
  const error = 'The worker stopped during each attempt. Certify the release again.'
  await sql`
    update certifications set
      state = 'failed', ended_at = ${new Date(clock.now_ms()).toISOString()},
      error = coalesce((select error from job_runs where id = certifications.job_id), ${error})
    where id in (
      select id from certifications as lost
      where lost.state in ('pending', 'running') and lost.job_id is not null and not exists (
        select from job_runs where id = lost.job_id and state in ('queued', 'running'))
      limit ${rows_max} for update skip locked)`.execute(db)
}

/** Deletes expired evidence. Keeps the statement. */
async function expire({ db, clock }: Deps): Promise<void> {
  const now = new Date(clock.now_ms()).toISOString()
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string }>`
      update certifications set held_until = null, evidence_salt = null
      where id in (
        select id from certifications
        where held_until <= ${now} and state not in ('pending', 'running')
        limit ${rows_max} for update skip locked)
      returning id`.execute(trx)
    await sql`
      delete from certification_evidence
      where certification_id = any(${rows.map(({ id }) => id)}::uuid[])`.execute(trx)
  })
}

/** Deletes old eval runs, unless a certification that is unended or not expired names them. */
async function deleteOldRuns({ db, clock }: Deps): Promise<void> {
  const now_ms = clock.now_ms()
  const before = new Date(now_ms - evalRunsDays * day_ms).toISOString()
  await sql`
    delete from certification_eval_runs where id in (
      select id from certification_eval_runs as run
      where run.created_at < ${before} and not exists (
        select from certifications as needs
        where needs.project_id = run.project_id
          and (needs.state in ('pending', 'running')
            or needs.expires_at > ${new Date(now_ms).toISOString()})
          and (run.id = any(needs.eval_run_ids)
            or needs.baseline -> 'eval_run_ids' @> to_jsonb(run.id::text)))
      order by run.created_at limit ${rows_max} for update skip locked)`.execute(db)
}
