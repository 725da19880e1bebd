import {
  enqueueJob,
  type Job,
  type JobHandler,
  type Jobs,
  type JobsOptions,
  startJobs,
} from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { type JobTables, type Kysely, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { eventually } from './eventually.ts'

const logger = createLogger({ role: 'test', level: 'silent' })

/**
 * Short intervals, so that minutes in production take a moment here. A poll is a transaction that
 * costs 2 ms of processor time, also while other tests run.
 */
export const quickJobs = {
  poll_ms: 50,
  lease_ms: 600,
  retry_ms_min: 20,
  retry_ms_max: 40,
  outage_ms: 20,
} as const

export function openJobDb(url: string) {
  return openRelational<JobTables>({
    scope: allTenants,
    ...{ url, logger },
    pool_max: 8,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 5_000,
  })
}

/** A worker with these handlers. */
export function startWorker(
  db: Kysely<JobTables>,
  handlers: readonly JobHandler[],
  more: Partial<JobsOptions> = {},
): Jobs {
  const settings = { ...quickJobs, ...more.settings }
  const metrics = createMetrics()
  return startJobs({ db, handlers, clock: systemClock, logger, metrics, ...more, settings })
}

export function enqueueTestJob(
  db: Kysely<JobTables>,
  more: Partial<Parameters<typeof enqueueJob>[1]> = {},
): Promise<Job> {
  return enqueueJob(db, {
    project_id: newId(),
    kind: 'test',
    params: {},
    requested_by: 'user:somebody',
    clock: systemClock,
    ...more,
  })
}

export function jobOf(db: Kysely<JobTables>, id: string): Promise<Job> {
  return db.selectFrom('job_runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** The job, once it is in one of these states. The wait is long because machines are shared. */
export function jobIn(db: Kysely<JobTables>, id: string, ...states: Job['state'][]): Promise<Job> {
  return eventually(
    `the job ${states.join(' or ')}`,
    async () => {
      const job = await jobOf(db, id)
      return states.includes(job.state) && job
    },
    { timeout_ms: 60_000 },
  )
}
