import { type AccessTables, type Kysely, sql } from '../../platform/relational/index.ts'

/** Tables with rows that expire, and the column with the time. */
const expiresIn = {
  browser_sessions: 'expires_at',
  refresh_tokens: 'expires_at',
  used_sign_ins: 'expires_at',
  sign_in_counts: 'clear_at',
} as const satisfies Partial<Record<keyof AccessTables, string>>

/** Maximum rows that one call deletes. */
const dropped_max = 20

/**
 * Deletes up to 20 expired rows of a table, the oldest first. Call it with each insert, so that the
 * table does not grow. Rows that another transaction has locked are left to a later call.
 */
export async function dropExpired(
  db: Kysely<AccessTables>,
  table: keyof typeof expiresIn,
  now: Date,
): Promise<void> {
  const [rows, expires_at] = [sql.table(table), sql.ref(expiresIn[table])]
  await sql`
    delete from ${rows} where ctid = any(array(
      select ctid from ${rows} where ${expires_at} < ${now.toISOString()}
      order by ${expires_at} limit ${dropped_max} for update skip locked
    ))`.execute(db)
}
