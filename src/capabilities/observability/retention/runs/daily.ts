import { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import { type Chore, deleteEndedJobs, enqueueJob } from '../../jobs/index.ts'
import type { LedgerStore } from '../../stores/index.ts'
import { day_ms } from '../policy/rules.ts'
import { projectsWithRetention } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { archiveScheduleChore } from '../schedule/archive-chore.ts'
import { retentionKind } from './retention-kind.ts'

export type RetentionChoresOptions = {
  db: RetentionDb
  ledger: Pick<LedgerStore, 'dropMonthsBefore'>
  clock: Clock
  /** Hour of the day, UTC, from which on a day's runs are begun. */
  hour: number
  job_runs_days: number
  ledger_days: number
}

/** What every worker does for retention: runs and archives when they are due, and our own books. */
export function retentionChores(options: RetentionChoresOptions): Chore[] {
  return [
    { name: 'daily retention', every_ms: daily_ms, run: enqueueDaily(options) },
    archiveScheduleChore(options),
    { name: 'books', every_ms: books_ms, run: () => trimBooks(options) },
  ]
}

const daily_ms = 60_000
const books_ms = 3_600_000
const hour_ms = 3_600_000
const jobs_max = 10_000

/** Records of these runs are receipts: what they tell is asked for years later. */
const receiptKinds = ['archive', 'restore', 'erasure']

/**
 * Has each project with a policy a run a day. Whichever worker comes first makes the job: its key
 * names the day, so that there is one however many come.
 */
function enqueueDaily({ db, clock, hour }: RetentionChoresOptions): Chore['run'] {
  let done: string | undefined
  return async (signal) => {
    const day = new Date(clock.now_ms() - hour * hour_ms).toISOString().slice(0, 10)
    if (done === day) return
    let is_whole = true
    for (const project_id of await projectsWithRetention(db)) {
      signal.throwIfAborted()
      is_whole = (await enqueueRun(db, { project_id, day, clock })) && is_whole
    }
    if (is_whole) done = day
  }
}

/** False while another run of the project is under way: it is asked for again later. */
async function enqueueRun(
  db: RetentionDb,
  { project_id, day, clock }: { project_id: string; day: string; clock: Clock },
): Promise<boolean> {
  try {
    await enqueueJob(db, {
      ...{ project_id, kind: retentionKind, params: {}, clock },
      requested_by: 'schedule',
      exclusive_key: retentionKind,
      once_key: `${retentionKind} ${day}`,
    })
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'job_running') return false
    throw error
  }
}

async function trimBooks(options: RetentionChoresOptions): Promise<void> {
  const { db, ledger, clock, job_runs_days: kept_days, ledger_days } = options
  await deleteEndedJobs(db, { kept_days, but_kinds: receiptKinds, limit: jobs_max })
  await ledger.dropMonthsBefore(clock.now_ms() - ledger_days * day_ms)
}
