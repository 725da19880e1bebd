import { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import { type Chore, enqueueJob } from '../../../jobs/index.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { retentionKind } from '../runs/retention-kind.ts'
import { lastSlot, nextSlot } from './daily-slots.ts'
import { type DueSlot, dueSlots, moveSlot } from './slot-store.ts'

const every_ms = 60_000
/** Projects of one page. */
const projects_max = 500

type Options = { db: RetentionDb; clock: Clock; hour: number }

/**
 * Creates the daily run of each project whose stored slot has come. All workers do so: the key of the
 * job names the slot, so one job is created. Several missed slots have one run.
 */
export function dailyRunsChore(options: Options): Chore {
  return {
    name: 'daily retention',
    every_ms,
    run: async (signal) => {
      const { db, clock } = options
      const now = new Date(clock.now_ms())
      for (let after: string | undefined, is_last = false; !is_last; ) {
        const due: DueSlot[] = await dueSlots(db, { now, after, limit: projects_max })
        for (const slot of due) {
          signal.throwIfAborted()
          await begin(options, slot, now.getTime())
        }
        after = due.at(-1)?.project_id
        is_last = due.length < projects_max
      }
    },
  }
}

/** Leaves the slot unchanged while another run of the project is under way. */
async function begin({ db, clock, hour }: Options, slot: DueSlot, now_ms: number): Promise<void> {
  const slot_ms = instantOf(slot, now_ms, hour)
  if (slot_ms <= now_ms && !(await enqueueRun(db, slot.project_id, { slot_ms, clock }))) return
  await moveSlot(db, slot, new Date(nextSlot(now_ms, hour)))
}

/** A policy of an earlier version has no slot: the last one counts if the policy is older. */
function instantOf({ next_run_at, updated_at }: DueSlot, now_ms: number, hour: number): number {
  if (next_run_at !== null) return Date.parse(next_run_at)
  const last_ms = lastSlot(now_ms, hour)
  return Date.parse(updated_at) <= last_ms ? last_ms : nextSlot(now_ms, hour)
}

/** False while another run of the project is under way. */
async function enqueueRun(
  db: RetentionDb,
  project_id: string,
  { slot_ms, clock }: { slot_ms: number; clock: Clock },
): Promise<boolean> {
  const scheduled_for = new Date(slot_ms).toISOString()
  try {
    await enqueueJob(db, {
      ...{ project_id, kind: retentionKind, params: { scheduled_for }, clock },
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
