import type { Clock } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import { attachTask, findSeenTask } from '../items/feedback-tasks.ts'
import { addDrops } from '../items/items-store.ts'
import type { FeedbackDb } from '../ports.ts'
import { hourOf } from '../votes/vote.ts'

/** Dependencies of the chores of feedback. */
export type WaitingDeps = {
  db: FeedbackDb
  clock: Clock
  logger: Logger
  meters: ReturnType<typeof feedbackMeters>
}

/** Registers the metrics of feedback that waits for its task. */
export function feedbackMeters(metrics: Metrics) {
  return {
    attached: metrics.counter({
      name: 'looptrace_feedback_attached_total',
      help: 'Items of feedback that waited for their task and were attached to it.',
    }),
    dropped: metrics.counter({
      name: 'looptrace_feedback_dropped_total',
      help: 'Items of feedback that were dropped, because their task did not come.',
    }),
  }
}

/** Maximum waiting tasks of one pass. */
const tasks_max = 200
/** Shortest and longest time between two look-ups of a task. The time grows with the wait. */
const look_ms_min = 1_000
const look_ms_max = 5 * 60 * 1000
const waitShare = 8

type WaitingTask = { project_id: string; task_id: string; waited_ms: number; is_expired: boolean }

/**
 * Attaches waiting feedback to tasks that have been seen, and drops feedback that waited too long.
 * Each task is one transaction, so that a killed worker leaves each task either waiting or
 * attached. Returns the number of tasks that it looked up.
 */
export async function attachWaiting(deps: WaitingDeps, signal?: AbortSignal): Promise<number> {
  const now = new Date(deps.clock.now_ms()).toISOString()
  const { rows } = await sql<WaitingTask>`
    select project_id, task_id, expires_at <= ${now}::timestamptz as is_expired,
      extract(epoch from ${now}::timestamptz - created_at)::float8 * 1000 as waited_ms
    from feedback_tasks where task_ref is null and look_at <= ${now}::timestamptz
    order by look_at limit ${tasks_max}`.execute(deps.db)
  for (const one of rows) {
    signal?.throwIfAborted()
    await runInProject(one.project_id, () => settleWaiting(deps, one))
  }
  return rows.length
}

async function settleWaiting(deps: WaitingDeps, one: WaitingTask): Promise<void> {
  const { db, clock, meters, logger } = deps
  const seen = await findSeenTask(db, one)
  if (seen === undefined && !one.is_expired) return lookLater(db, one, clock.now_ms())
  const { project_id, task_id } = one
  const items = await db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('feedback_tasks')
      .selectAll()
      .where('project_id', '=', project_id)
      .where('task_id', '=', task_id)
      .where('task_ref', 'is', null)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    // Another worker or a request is attaching this task.
    if (row === undefined) return 0
    if (seen !== undefined) await attachTask(trx, row, seen, await firstVoter(trx, one))
    else await drop(trx, { ...one, items: row.items, now_ms: clock.now_ms() })
    return row.items
  })
  if (seen !== undefined) return meters.attached.inc({}, items)
  meters.dropped.inc({}, items)
  if (items > 0) logger.info({ project_id, items }, 'dropped feedback whose task did not come')
}

async function lookLater(
  db: FeedbackDb,
  { project_id, task_id, waited_ms }: WaitingTask,
  now_ms: number,
): Promise<void> {
  const pause_ms = Math.min(look_ms_max, Math.max(look_ms_min, waited_ms / waitShare))
  await db
    .updateTable('feedback_tasks')
    .set({ look_at: new Date(now_ms + pause_ms).toISOString() })
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('task_ref', 'is', null)
    .execute()
}

async function drop(
  trx: FeedbackDb,
  { project_id, task_id, items, now_ms }: WaitingTask & { items: number; now_ms: number },
): Promise<void> {
  await trx
    .deleteFrom('feedback_tasks')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()
  const hour = hourOf(new Date(now_ms).toISOString())
  await addDrops(trx, { project_id, hour, reason: 'task_not_seen', items })
}

/** Returns the end user of the first item that names one. */
async function firstVoter(
  trx: FeedbackDb,
  { project_id, task_id }: Pick<WaitingTask, 'project_id' | 'task_id'>,
): Promise<string | null> {
  const row = await trx
    .selectFrom('feedback')
    .select('user_id')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('user_id', 'is not', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.user_id ?? null
}

/** How long hourly counts, and counts of drops, are kept. */
const hours_ms = 400 * 24 * 60 * 60 * 1000
const hoursPerStatement = 10_000

/** Deletes old counts. */
async function deleteOldHours({ db, clock }: Pick<WaitingDeps, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now_ms() - hours_ms).toISOString()
  for (const table of ['feedback_hours', 'feedback_drops']) {
    for (let deleted = hoursPerStatement; deleted === hoursPerStatement; ) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where ctid in (
          select ctid from ${sql.table(table)} where hour < ${before}::timestamptz
          limit ${hoursPerStatement})`.execute(db)
      deleted = Number(numAffectedRows)
    }
  }
}

/** The chores of feedback: attaching and dropping, and deleting old counts. */
export function feedbackChores(deps: WaitingDeps): Chore[] {
  return [
    {
      name: 'attach feedback',
      every_ms: 1_000,
      wake: 'feedback',
      reason: 'waiting tasks of all projects',
      run: async (signal) => {
        while ((await attachWaiting(deps, signal)) === tasks_max);
      },
    },
    {
      name: 'delete old feedback counts',
      every_ms: 3_600_000,
      reason: 'deletes what is old in all projects',
      run: () => deleteOldHours(deps),
    },
  ]
}
