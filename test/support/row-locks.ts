import { type AccessTables, type Kysely, sql } from '../../src/platform/relational/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { eventually } from './eventually.ts'

type Db = Kysely<AccessTables>
/** A database of any tables. */
type Executor = Parameters<ReturnType<typeof sql>['execute']>[0]

/**
 * Runs `during` while a transaction of the test holds the locks that `lock` takes, so that calls
 * meet at a known point. The locks end with `during`.
 */
export function whileLocked<T>(
  db: Db,
  lock: (trx: Db) => Promise<unknown>,
  during: () => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lock(trx)
    return during()
  })
}

/** Resolves when `count` statements in this database wait for a lock. */
export async function blocked(db: Executor, count: number): Promise<void> {
  await eventually(
    `${count} statements wait for a lock`,
    async () => (await countBlocked(db)) >= count,
  )
}

/** Returns the number of statements in this database that wait for a lock. */
export async function countBlocked(db: Executor): Promise<number> {
  const statement = sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  const { rows } = await runAsOwner('activity of all sessions', () => statement.execute(db))
  return rows[0]?.n ?? 0
}
