import { type HotTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type HotTableName, hotTables } from './hot-rows.ts'

type Db = Kysely<HotTables>

/** A database or transaction that runs statements. */
type Connection = Pick<Db, 'getExecutor'>

export const day_ns = 86_400_000_000_000n

/** Returns the day of an instant, counted from 1970. */
export function dayOf(time: bigint): number {
  return Number(time >= 0n ? time / day_ns : (time - day_ns + 1n) / day_ns)
}

/** A partition: one day of a table. */
type DayPartition = { table: HotTableName; day: number }

const partitionName = ({ table, day }: DayPartition) =>
  `${table}_${new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Advisory lock for creating partitions; any unique number. */
const partitionLock = 7_061_854

/**
 * Creates the partition of a day if it does not exist. Creates the table first and then attaches
 * it, which does not block readers and writers of other days. Safe to call concurrently.
 */
export async function makePartition(db: Db, partition: DayPartition): Promise<void> {
  const { table, day } = partition
  const name = partitionName(partition)
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${partitionLock})`.execute(trx)
    if ((await partitionsOf(trx, table)).some((each) => each.day === day)) return
    // A removal that was cut off may have left the table.
    await sql`drop table if exists ${sql.id(name)}`.execute(trx)
    await sql`create table ${sql.id(name)} (like ${sql.id(table)} including all)`.execute(trx)
    const [from, to] = [BigInt(day) * day_ns, BigInt(day + 1) * day_ns]
    await sql`alter table ${sql.id(table)} attach partition ${sql.id(name)}
      for values from (${sql.lit(`${from}`)}) to (${sql.lit(`${to}`)})`.execute(trx)
  })
}

/** Lists the days with partitions of a table. */
async function partitionsOf(
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
 * Drops the partitions of days before `keepFrom`. The lock of `lockHotWindows` keeps hot windows
 * from widening meanwhile. Detaching waits for running statements without stopping them.
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
          dropped.push(partitionName({ table, day }))
        }
      }
    } finally {
      await sql`select pg_advisory_unlock(${windowLock})`.execute(connection)
    }
  })
  return dropped
}

async function dropPartition(db: Db, partition: DayPartition, pending: boolean): Promise<void> {
  const [table, name] = [sql.id(partition.table), sql.id(partitionName(partition))]
  const how = sql.raw(pending ? 'finalize' : 'concurrently')
  await sql`alter table ${table} detach partition ${name} ${how}`.execute(db)
  await sql`drop table ${name}`.execute(db)
}

/** Advisory lock between dropping days and widening a hot window. */
const windowLock = 7_061_855

/** Keeps days from being dropped until the transaction ends. */
export async function lockHotWindows(trx: Connection): Promise<void> {
  await sql`select pg_advisory_xact_lock(${windowLock})`.execute(trx)
}

/** The class of the advisory locks of projects. */
const projectLocks = 7_061_856

/**
 * Locks a project's hot window until the transaction ends, so that rows are either copied into it
 * (`shared`) or removed from it (`exclusive`), never both at once.
 */
export async function lockProject(
  trx: Connection,
  project_id: string,
  how: 'shared' | 'exclusive',
): Promise<void> {
  const lock = sql.raw(how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  await sql`select ${lock}(${projectLocks}, hashtext(${project_id}))`.execute(trx)
}
