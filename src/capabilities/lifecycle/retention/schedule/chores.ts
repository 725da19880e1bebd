import { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import { runInProject } from '../../../../platform/tenancy/index.ts'
import { type Chore, deleteEndedJobs, enqueueJob } from '../../../jobs/index.ts'
import type { LedgerStore } from '../../../storage/index.ts'
import { type RetentionDb, retentionKind } from '../contract.ts'
import { day_ms } from '../retention-policy/rules.ts'
import { archiveScheduleChore } from './archive-schedule.ts'
import { lastSlot, nextSlot } from './slots.ts'
import { type DueSlot, dueSlots, moveSlot } from './store.ts'

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
    {
      name: 'books',
      every_ms: trim_every_ms,
      reason: 'deletes what is old in all projects',
      run: () => trimRecords(options),
    },
  ]
}

const trim_every_ms = 3_600_000

const jobs_max = 10_000

/** Kinds of runs whose records are kept for ever, as receipts. */
const receiptKinds = ['archive', 'restore', 'erasure']

async function trimRecords(options: RetentionChoresOptions): Promise<void> {
  const { db, ledger, clock, job_runs_days: kept_days, ledger_days } = options
  await deleteEndedJobs(db, { kept_days, but_kinds: receiptKinds, limit: jobs_max })
  await ledger.dropMonthsBefore(clock.now_ms() - ledger_days * day_ms)
}

const every_ms = 60_000

/** Most projects of one page. */
const projects_max = 500

type Options = { db: RetentionDb; clock: Clock; hour: number }

/**
 * Creates the chore that queues the daily run of each project whose slot has come. All workers do
 * so; the key of the job names the slot, so only one job is created. Several missed slots have one
 * run.
 */
function dailyRunsChore(options: Options): Chore {
  return {
    name: 'daily retention',
    every_ms,
    reason: 'due runs of all projects',
    run: async (signal) => {
      const { db, clock } = options
      const now = new Date(clock.now_ms())
      for (let after: string | undefined, is_last = false; !is_last; ) {
        const due: DueSlot[] = await dueSlots(db, { now, after, limit: projects_max })
        for (const slot of due) {
          signal.throwIfAborted()
          const start = () => startDailyRun(options, slot, now.getTime())
          await runInProject(slot.project_id, start)
        }
        after = due.at(-1)?.project_id
        is_last = due.length < projects_max
      }
    },
  }
}

/** Queues the run and moves the slot, unless another run of the project is under way. */
async function startDailyRun(
  { db, clock, hour }: Options,
  slot: DueSlot,
  now_ms: number,
): Promise<void> {
  const slot_ms = instantOf(slot, now_ms, hour)
  if (slot_ms <= now_ms && !(await enqueueRun(db, slot.project_id, { slot_ms, clock }))) return
  await moveSlot(db, slot, new Date(nextSlot(now_ms, hour)))
}

/**
 * Returns the time of a slot; for a policy of an earlier version, which has no slot, the last one.
 */
function instantOf({ next_run_at, updated_at }: DueSlot, now_ms: number, hour: number): number {
  if (next_run_at !== null) return Date.parse(next_run_at)
  const last_ms = lastSlot(now_ms, hour)
  return Date.parse(updated_at) <= last_ms ? last_ms : nextSlot(now_ms, hour)
}

/** Queues a run; false while another run of the project is under way. */
async function enqueueRun(
  db: RetentionDb,
  project_id: string,
  { slot_ms, clock }: { slot_ms: number; clock: Clock },
): Promise<boolean> {
  const scheduled_for = new Date(slot_ms).toISOString()
  try {
    await enqueueJob(db, {
      project_id,
      kind: retentionKind,
      params: { scheduled_for },
      clock,
      requested_by: 'schedule',
      exclusive_key: retentionKind,
      once_key: `${retentionKind} ${scheduled_for.slice(0, 10)}`,
    })
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'job_running') return false
    throw error
  }
}
