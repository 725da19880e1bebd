import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type HotTableName, hotTables } from './hot-rows.ts'

type Db = Kysely<HotTables>
/** Whatever statements can be run on. */
type Connection = Pick<Db, 'getExecutor'>

export const day_ns = 86_400_000_000_000n

/** The day of an instant, counted from 1970. */
export function dayOf(time: bigint): number {
  return Number(time >= 0n ? time / day_ns : (time - day_ns + 1n) / day_ns)
}

/** A partition: one day of a table. */
export type DayPartition = { table: HotTableName; day: number }

const nameOf = ({ table, day }: DayPartition) =>
  `${table}_${new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Any number will do: who makes or drops a partition holds it. */
const partitionLock = 7_061_854

/**
 * Makes the partition of a day when there is none. It is made apart and then attached, which lets
 * readers and writers of other days go on. May be called by many at once.
 */
export async function makePartition(db: Db, partition: DayPartition): Promise<void> {
  const { table, day } = partition
  const name = nameOf(partition)
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${partitionLock})`.execute(trx)
    if ((await partitionsOf(trx, table)).some((each) => each.day === day)) return
    // What a half-done removal left.
    await sql`drop table if exists ${sql.id(name)}`.execute(trx)
    await sql`create table ${sql.id(name)} (like ${sql.id(table)} including all)`.execute(trx)
    const [from, to] = [BigInt(day) * day_ns, BigInt(day + 1) * day_ns]
    await sql`alter table ${sql.id(table)} attach partition ${sql.id(name)}
      for values from (${sql.lit(`${from}`)}) to (${sql.lit(`${to}`)})`.execute(trx)
  })
}

/** The days that a table has partitions of. */
export async function partitionsOf(
  db: Db,
  table: HotTableName,
): Promise<{ day: number; pending: boolean }[]> {
  const { rows } = await sql<{ name: string; pending: boolean }>`
    select c.relname as name, i.inhdetachpending as pending
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${table})
    order by c.relname
  `.execute(db)
  return rows.flatMap(({ name, pending }) => {
    const [, y, m, d] = /_(\d{4,})(\d\d)(\d\d)$/.exec(name) ?? []
    return d === undefined
      ? []
      : [{ day: Date.UTC(Number(y), Number(m) - 1, Number(d)) / 86_400_000, pending }]
  })
}

/**
 * Drops the partitions of days before `keepFrom` answers, which is asked while nobody can begin to
 * need older ones (`lockHotWindows`). Detaching waits for running statements and stops none.
 */
export async function dropPartitions(db: Db, keepFrom: (db: Db) => Promise<number>) {
  const dropped: string[] = []
  await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${windowLock})`.execute(connection)
    try {
      const first = await keepFrom(connection)
      for (const table of Object.keys(hotTables) as HotTableName[]) {
        for (const { day, pending } of await partitionsOf(connection, table)) {
          if (day >= first) continue
          await dropPartition(connection, { table, day }, pending)
          dropped.push(nameOf({ table, day }))
        }
      }
    } finally {
      await sql`select pg_advisory_unlock(${windowLock})`.execute(connection)
    }
  })
  return dropped
}

async function dropPartition(db: Db, partition: DayPartition, pending: boolean): Promise<void> {
  const [table, name] = [sql.id(partition.table), sql.id(nameOf(partition))]
  const how = sql.raw(pending ? 'finalize' : 'concurrently')
  await sql`alter table ${table} detach partition ${name} ${how}`.execute(db)
  await sql`drop table ${name}`.execute(db)
}

/** Held by who drops days, and for a transaction by who begins to need older ones. */
const windowLock = 7_061_855

/** Until the transaction ends no day is dropped. */
export async function lockHotWindows(trx: Connection): Promise<void> {
  await sql`select pg_advisory_xact_lock(${windowLock})`.execute(trx)
}

/** Tells locks of projects from others. */
const projectLocks = 7_061_856

/**
 * Until the transaction ends rows of the project are copied into the hot window (`shared`), or taken
 * out of it (`exclusive`), and never both at once.
 */
export async function lockProject(
  trx: Connection,
  project_id: string,
  how: 'shared' | 'exclusive',
): Promise<void> {
  const lock = sql.raw(how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  await sql`select ${lock}(${projectLocks}, hashtext(${project_id}))`.execute(trx)
}
