import { isLockTimeout, type Kysely, sql } from '../../../../platform/relational/index.ts'

/** The class of these advisory locks. */
const restoreLocks = 7_061_857
/** Duration of one wait, shorter than the time-out of statements. */
const wait_ms = 2_000
/** Most waits; restoring a file takes seconds. */
const waits_max = 300

/**
 * Runs one step of a restore. No erasure of the project hides rows during the step, so the step
 * misses no erasure.
 */
export function duringRestore<T, Tables>(
  db: Kysely<Tables>,
  project_id: string,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return runLocked(db, { project_id, lock: 'pg_advisory_xact_lock_shared', work, signal })
}

/**
 * Waits for the running steps of the project's restores. Later steps read the erasures that were
 * stored before this call.
 */
export function waitForRestores<Tables>(
  db: Kysely<Tables>,
  project_id: string,
  signal: AbortSignal,
): Promise<void> {
  return runLocked(db, { project_id, lock: 'pg_advisory_xact_lock', work: async () => {}, signal })
}

type LockedWork<T> = {
  project_id: string
  lock: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared'
  work: () => Promise<T>
  signal: AbortSignal
}

async function runLocked<T, Tables>(
  db: Kysely<Tables>,
  { project_id, lock, work, signal }: LockedWork<T>,
): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    signal.throwIfAborted()
    try {
      return await db.transaction().execute(async (trx) => {
        await sql`select set_config('lock_timeout', ${`${wait_ms}ms`}, true)`.execute(trx)
        await sql`select ${sql.raw(lock)}(${restoreLocks}, hashtext(${project_id}))`.execute(trx)
        return work()
      })
    } catch (error) {
      if (!isLockTimeout(error) || waits === waits_max) throw error
    }
  }
}
