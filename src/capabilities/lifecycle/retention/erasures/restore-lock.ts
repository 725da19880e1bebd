import { isLockTimeout, type Kysely, sql } from '../../../../platform/relational/index.ts'

/** The class of these advisory locks. */
const restoreLocks = 7_061_857
/** One wait, shorter than the time-out of statements. */
const wait_ms = 2_000
/** Waits in all; a restored file takes seconds. */
const waits_max = 300

/**
 * Runs one step of a restore. No erasure of the project hides rows during the step, so the erasures
 * that the step has read are all that count.
 */
export function duringRestore<T, Tables>(
  db: Kysely<Tables>,
  project_id: string,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return locked(db, { project_id, lock: 'pg_advisory_xact_lock_shared', work, signal })
}

/**
 * Waits for the steps that restores of the project have begun. Steps that begin later read the
 * erasures that were stored before this call.
 */
export function untilRestoresKnow<Tables>(
  db: Kysely<Tables>,
  project_id: string,
  signal: AbortSignal,
): Promise<void> {
  return locked(db, { project_id, lock: 'pg_advisory_xact_lock', work: async () => {}, signal })
}

type Locked<T> = {
  project_id: string
  lock: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared'
  work: () => Promise<T>
  signal: AbortSignal
}

async function locked<T, Tables>(
  db: Kysely<Tables>,
  { project_id, lock, work, signal }: Locked<T>,
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
