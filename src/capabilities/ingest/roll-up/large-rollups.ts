import { newId } from '../../../kernel/ids.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import {
  type Kysely,
  noteChanges,
  pollingWakes,
  prepared,
  sql,
  type TaskTables,
  type Transaction,
  type Wakes,
} from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../../platform/tenancy/index.ts'
import type { ObservationStore } from '../../storage/index.ts'
import type { IngestMeters } from '../meters.ts'
import { writeConversations } from './conversation-store.ts'
import { lockTasks, withoutFingerprints, writeTasks } from './task-store.ts'
import { nsFromIso } from './touched.ts'

/** The dependencies of a refresh. */
type RefreshPorts = { db: Kysely<TaskTables>; store: ObservationStore; clock: Clock }

/** Settings for refreshing large roll-ups; `defaultIngestSettings` has the defaults. */
export type RefreshSettings = {
  /** Interval between polls for a roll-up that is due. */
  refresh_poll_ms: number
  /** Lease of a refresh; after it another worker may refresh the same roll-up. */
  refresh_lease_ms: number
  /**
   * Minimum pause between two refreshes of one roll-up, and the same as a multiple of the duration
   * of the last one.
   */
  refresh_rest_ms: number
  refresh_rest_factor: number
  /** Maximum share of its time that a worker refreshes, however many roll-ups are due. */
  refresh_busy_share: number
}

/** Starts refreshing large roll-ups as they become due. `stop` waits for the running refresh. */
export function startRefreshing(
  ports: RefreshPorts & {
    logger: Logger
    meters: Pick<IngestMeters, 'refreshed'>
    settings: RefreshSettings
    wakes?: Wakes | undefined
  },
): { stop: () => Promise<void> } {
  const { logger, meters, settings, wakes = pollingWakes() } = ports
  const waker = wakes.waker('roll_ups')
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        const took_ms = await refreshOne(ports, settings)
        if (took_ms !== undefined) {
          meters.refreshed.inc({ result: 'refreshed' })
          await sleep(took_ms * (1 / settings.refresh_busy_share - 1), stopping.signal)
          continue
        }
      } catch (error) {
        meters.refreshed.inc({ result: 'failed' })
        logger.warn({ err: error }, 'refreshing a large roll-up failed; it stays due')
      }
      await waker.wait(settings.refresh_poll_ms, stopping.signal)
    }
  }
  const ended = loop()
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

/**
 * Refreshes the roll-up that has been due longest. Returns the time that this took, in ms; undefined
 * when none is due. It reads observations without a lock: rows stored meanwhile mark the roll-up
 * again, so it stays due.
 */
export async function refreshOne(
  ports: RefreshPorts,
  settings: RefreshSettings,
): Promise<number | undefined> {
  const { db } = ports
  const claim = newId()
  const lease_ms = settings.refresh_lease_ms
  const claimed = await runInInstallation('due roll-ups of all projects', () =>
    db.transaction().execute((trx) => claimLarge(trx, { claim, lease_ms })),
  )
  if (claimed === undefined) return undefined
  return runInProject(claimed.project_id, () => refreshClaimed(ports, claimed, settings))
}

async function refreshClaimed(
  ports: RefreshPorts,
  claimed: ClaimedRollUp,
  settings: RefreshSettings,
): Promise<number> {
  const { db, clock } = ports
  const start_ms = clock.now_ms()
  const write = await recompute(ports, claimed)
  const took_ms = clock.now_ms() - start_ms
  const rest_ms = Math.max(settings.refresh_rest_ms, took_ms * settings.refresh_rest_factor)
  await db.transaction().execute(async (trx) => {
    // In this order, because a writer that marks a task holds the lock on its row.
    await write(trx)
    if (!(await settleLarge(trx, claimed, { rest_ms }))) throw new ClaimLost()
  })
  return took_ms
}

/** The refresh outlasted its lease, and another worker has a newer result. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

type Write = (trx: Transaction<TaskTables>) => Promise<void>

async function recompute({ db, store }: RefreshPorts, claimed: ClaimedRollUp): Promise<Write> {
  const { project_id, kind, id } = claimed
  const started_at = await findStart(db, claimed)
  if (started_at === undefined) return noWork
  const from = nsFromIso(started_at)
  if (kind === 'conversation') {
    const hint = { conversation_id: id, from }
    const [rollup] = await store.conversationRollups(project_id, [hint])
    return (trx) => (rollup ? writeConversations(trx, [{ project_id, rollup }]) : noWork())
  }
  const [rollup] = await store.taskRollups(project_id, [{ task_id: id, from }])
  return async (trx) => {
    const [task] = await lockTasks(trx, [{ project_id, task_id: id }])
    if (!(task && rollup)) return
    const implicit = task.implicit && rollup.implicit
    await writeTasks(trx, [{ ...task, project_id, rollup: withoutFingerprints(rollup), implicit }])
    await noteChanges(trx, [{ project_id, kind: 'task', id }])
  }
}

async function noWork(): Promise<void> {}

/** Returns the start of its first call; undefined when the row is gone. */
async function findStart(
  db: Kysely<TaskTables>,
  { project_id, kind, id }: ClaimedRollUp,
): Promise<string | undefined> {
  const row =
    kind === 'task'
      ? await db
          .selectFrom('tasks')
          .select('started_at')
          .where('project_id', '=', project_id)
          .where('task_id', '=', id)
          .executeTakeFirst()
      : await db
          .selectFrom('conversations')
          .select('started_at')
          .where('project_id', '=', project_id)
          .where('conversation_id', '=', id)
          .executeTakeFirst()
  return row?.started_at
}

type Trx = Transaction<TaskTables>

/** The key of a task or a conversation; `id` is its own. */
export type RollUpKey = { project_id: string; kind: 'task' | 'conversation'; id: string }

/** A large roll-up that a worker has claimed; `touches` counts how often it was marked. */
type ClaimedRollUp = RollUpKey & { claim: string; touches: string }

/** Marks the large ones of these keys as due and returns them. Locks them in key order. */
export async function markLarge(trx: Trx, keys: readonly RollUpKey[]): Promise<RollUpKey[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<RollUpKey>`
    with held as (
      select project_id, kind, id from large_rollups
      join ${given(keys)} using (project_id, kind, id)
      order by project_id, kind, id for update of large_rollups
    )
    update large_rollups as large set ${due('large')}
    from held
    where (large.project_id, large.kind, large.id) = (held.project_id, held.kind, held.id)
    returning large.project_id, large.kind, large.id
  `.execute(prepared(trx, 'mark_large'))
  return rows
}

/**
 * Registers these roll-ups as large. They are due at once, since they may contain older data than a
 * refresh would read.
 */
export async function noteLarge(trx: Trx, keys: readonly RollUpKey[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into large_rollups (project_id, kind, id, due_at)
    select project_id, kind, id, now() from ${given(keys)} order by project_id, kind, id
    on conflict (project_id, kind, id) do update set ${due('large_rollups')}
  `.execute(trx)
}

/**
 * Claims the roll-up that has been due longest, for `lease_ms`. Returns undefined when none is due.
 */
async function claimLarge(
  trx: Trx,
  { claim, lease_ms }: { claim: string; lease_ms: number },
): Promise<ClaimedRollUp | undefined> {
  const { rows } = await sql<ClaimedRollUp>`
    with due as (
      select project_id, kind, id from large_rollups
      where due_at <= now() and (claimed_until is null or claimed_until < now())
      order by due_at limit 1 for update skip locked
    )
    update large_rollups as large
    set claim = ${claim}, claimed_until = now() + ${lease_ms} * interval '1 ms'
    from due where (large.project_id, large.kind, large.id) = (due.project_id, due.kind, due.id)
    returning large.project_id, large.kind, large.id, large.claim, large.touches::text
  `.execute(trx)
  return rows[0]
}

/**
 * Ends a claim. Returns false when another worker has claimed it since. A roll-up that was marked
 * meanwhile stays due, but only after a pause, so that refreshing one never uses all of a store's
 * time.
 */
async function settleLarge(
  trx: Trx,
  { project_id, kind, id, claim, touches }: ClaimedRollUp,
  { rest_ms }: { rest_ms: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update large_rollups set
      claim = null, claimed_until = null,
      rests_until = now() + ${rest_ms} * interval '1 ms',
      due_at = case when touches = ${touches} then null
        else now() + ${rest_ms} * interval '1 ms' end
    where project_id = ${project_id} and kind = ${kind} and id = ${id} and claim = ${claim}
  `.execute(trx)
  return numAffectedRows === 1n
}

function due(table: string) {
  return sql.raw(`touches = ${table}.touches + 1,
    due_at = coalesce(${table}.due_at, greatest(now(), ${table}.rests_until))`)
}

function given(keys: readonly RollUpKey[]) {
  return sql`json_to_recordset(${JSON.stringify(keys)}::json) as given (
    project_id uuid, kind text, id text
  )`
}
