import { openFindingsRetention } from '../capabilities/detection/index.ts'
import { type Chore, type JobHandler, startJobs } from '../capabilities/jobs/index.ts'
import {
  archiveScheduleHandler,
  dryRunHandler,
  erasureHandler,
  retentionChores,
  retentionHandler,
} from '../capabilities/lifecycle/retention/index.ts'
import { type ErasureTarget, openPostgresRetention } from '../capabilities/storage/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type JobConfig = Pick<
  RoleConfig<'worker'>,
  | 'jobs_max'
  | 'job_poll_ms'
  | 'job_lease_ms'
  | 'job_attempts_max'
  | 'job_runs_days'
  | 'retention_hour'
  | 'ledger_days'
>

/** What a capability has workers do. */
type JobParts = {
  handlers: readonly JobHandler[]
  chores: readonly Chore[]
  /** Takes out what it has of a user. */
  erasure?: ErasureTarget
}

/** Works on jobs of every kind until the role ends: those of retention, and `others`. */
export function openJobs(
  context: RoleContext,
  config: JobConfig,
  { db, retention, ledger }: Pick<Stores, 'db' | 'retention' | 'ledger'>,
  others: readonly JobParts[],
): void {
  const targets = [openPostgresRetention({ db }), openFindingsRetention({ db })]
  const erased = [...targets, ...others.flatMap(({ erasure }) => erasure ?? [])]
  const { retention_hour: hour, job_runs_days, ledger_days } = config
  const jobs = startJobs({
    ...context,
    db,
    handlers: [
      retentionHandler({ ...context, db, store: retention, targets }),
      dryRunHandler({ db, store: retention }),
      archiveScheduleHandler({ ...context, db, store: retention }),
      erasureHandler({ ...context, db, store: retention, targets: erased }),
      ...others.flatMap(({ handlers }) => handlers),
    ],
    chores: [
      ...retentionChores({ ...context, db, ledger, hour, job_runs_days, ledger_days }),
      ...others.flatMap(({ chores }) => chores),
    ],
    settings: {
      concurrency_max: config.jobs_max,
      poll_ms: config.job_poll_ms,
      lease_ms: config.job_lease_ms,
      attempts_max: config.job_attempts_max,
    },
  })
  context.parts.defer(() => jobs.stop())
}
