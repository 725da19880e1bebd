import type { Clock } from '../../../../kernel/time.ts'
import { type Chore, deleteEndedJobs } from '../../../jobs/index.ts'
import type { LedgerStore } from '../../../storage/index.ts'
import { day_ms } from '../policy/rules.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { archiveScheduleChore } from './archive-chore.ts'
import { dailyRunsChore } from './daily-runs.ts'

export type RetentionChoresOptions = {
  db: RetentionDb
  ledger: Pick<LedgerStore, 'dropMonthsBefore'>
  clock: Clock
  /** Hour of the day, UTC, at which daily runs begin. */
  hour: number
  job_runs_days: number
  ledger_days: number
}

/** Returns the chores of every worker: due runs and archives, and old records of our own. */
export function retentionChores(options: RetentionChoresOptions): Chore[] {
  return [
    dailyRunsChore(options),
    archiveScheduleChore(options),
    { name: 'books', every_ms: books_ms, run: () => trimBooks(options) },
  ]
}

const books_ms = 3_600_000
const jobs_max = 10_000

/** Records of these runs are receipts: what they tell is asked for years later. */
const receiptKinds = ['archive', 'restore', 'erasure']

async function trimBooks(options: RetentionChoresOptions): Promise<void> {
  const { db, ledger, clock, job_runs_days: kept_days, ledger_days } = options
  await deleteEndedJobs(db, { kept_days, but_kinds: receiptKinds, limit: jobs_max })
  await ledger.dropMonthsBefore(clock.now_ms() - ledger_days * day_ms)
}
