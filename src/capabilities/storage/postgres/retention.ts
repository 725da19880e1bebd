import { contentAttributes } from '../../../model/content-attributes.ts'
import {
  type HotTables,
  type Kysely,
  partitionPolicy,
  sql,
} from '../../../platform/relational/index.ts'
import { runAsOwner, runInInstallation } from '../../../platform/tenancy/index.ts'
import type { RecordKind } from '../record-contract.ts'
import {
  maxRetentionIds,
  type RetentionSlice,
  type RetentionTarget,
  type UserErasure,
} from '../retention-contract.ts'
import { type HotTableName, hotTables } from './hot-rows.ts'

type Db = Kysely<HotTables>

type Sql = ReturnType<typeof sql>

/** Maximum rows of one statement, for it to end within the statement timeout. */
const rows_max = 5_000

/**
 * Removes data from the hot window. Waits for running copies of a backfill (`lockProject`), so that
 * rows removed from ClickHouse before the call can't return here.
 */
export function openPostgresRetention({ db }: { db: Db }): RetentionTarget {
  return {
    store: 'postgres',
    kinds: ['observations', 'traces'],
    deleteRows: (slice, signal) => {
      const statement = (table: HotTableName) => deleteWhere(table, sliceCondition(table, slice))
      return repeatFor(db, slice, { statement, signal })
    },
    maskContent: (slice, signal) => {
      const statement = (table: HotTableName) => maskWhere(table, sliceCondition(table, slice))
      return repeatFor(db, slice, { statement, signal })
    },
    tracesOfUser: (about) => tracesOfUser(db, about),
    eraseUser: (about, signal) => eraseUser(db, about, signal),
  }
}

const tablesByKind: Partial<Record<RecordKind, HotTableName>> = {
  observations: 'hot_observations',
  traces: 'hot_traces',
}

async function repeatFor(
  db: Db,
  { kind, project_id }: RetentionSlice,
  about: { statement: (table: HotTableName) => Sql; signal: AbortSignal | undefined },
): Promise<void> {
  const table = tablesByKind[kind]
  if (table === undefined) return
  await repeatUntilDone(db, project_id, { statement: about.statement(table), signal: about.signal })
}

/** Repeats a statement of bounded rows until it affects no rows. */
async function repeatUntilDone(
  db: Db,
  project_id: string,
  { statement, signal }: { statement: Sql; signal: AbortSignal | undefined },
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const touched = await db.transaction().execute(async (trx) => {
      await lockProject(trx, project_id, 'exclusive')
      return (await statement.execute(trx)).numAffectedRows ?? 0n
    })
    if (touched === 0n) return
  }
}

function sliceCondition(table: HotTableName, slice: RetentionSlice): Sql {
  const { environments, trace_ids, held_trace_ids, stored_before_ms, with_content } = slice
  const time = sql.id(hotTables[table].time)
  const parts = [
    sql`project_id = ${slice.project_id}`,
    sql`${time} >= ${slice.from.toString()}::bigint and ${time} < ${slice.to.toString()}::bigint`,
    ...(environments ? [sql`environment = any(${environments}::text[])`] : []),
    ...(trace_ids ? [sql`trace_id = any(${trace_ids}::uuid[])`] : []),
    ...(held_trace_ids.length > 0 ? [sql`trace_id <> all(${held_trace_ids}::uuid[])`] : []),
    ...(stored_before_ms === undefined
      ? []
      : [sql`ingested_at < ${new Date(stored_before_ms).toISOString()}::timestamptz`]),
    ...(with_content ? [hasContent[table]] : []),
  ]
  return sql`(${sql.join(parts, sql` and `)})`
}

const hasContent: Readonly<Record<HotTableName, Sql>> = {
  hot_observations: sql`content_state in ('full', 'truncated')`,
  hot_traces: sql`(input <> '' or output <> '')`,
}

function someRows(table: HotTableName, where: Sql): Sql {
  const key = sql.raw(hotTables[table].key.join(', '))
  return sql`(${key}) in (select ${key} from ${sql.id(table)} where ${where} limit ${rows_max})`
}

function deleteWhere(table: HotTableName, where: Sql): Sql {
  return sql`delete from ${sql.id(table)} where ${someRows(table, where)}`
}

function maskWhere(table: HotTableName, where: Sql): Sql {
  const unmasked = sql`${where} and ${hasContent[table]}`
  return sql`update ${sql.id(table)} set ${withoutContent[table]} where ${someRows(table, unmasked)}`
}

const { keys, request_parameters } = contentAttributes()

/** Tests an attribute's key for content, like `isContentAttribute` of the model. */
const isContent = sql`case when starts_with(key, 'request.')
  then substr(key, ${'request.'.length + 1}::int) <> all(${request_parameters}::text[])
  else key ~ ${keys} end`

/** Removes content and keeps measurements, as in ClickHouse. */
const withoutContent: Readonly<Record<HotTableName, Sql>> = {
  hot_observations: sql`input = '', output = '', error_message = '', content_state = 'expired',
    tool_calls = (
      select coalesce(jsonb_agg(item || '{"arguments": ""}' order by at), '[]')
      from jsonb_array_elements(tool_calls) with ordinality as each (item, at)
    ),
    tool_results = (
      select coalesce(jsonb_agg(item || '{"content": ""}' order by at), '[]')
      from jsonb_array_elements(tool_results) with ordinality as each (item, at)
    ),
    attributes = (
      select coalesce(jsonb_object_agg(key, value), '{}')
      from jsonb_each(attributes) where not (${isContent})
    )`,
  hot_traces: sql`input = '', output = ''`,
}

async function eraseUser(
  db: Db,
  { project_id, user_id, trace_ids }: UserErasure,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (trace_ids.length === 0) return
  const where = sql`project_id = ${project_id} and trace_id = any(${trace_ids}::uuid[])
    and user_id in (${user_id}, '')`
  for (const table of Object.keys(hotTables) as HotTableName[]) {
    await repeatUntilDone(db, project_id, { statement: deleteWhere(table, where), signal })
  }
}

async function tracesOfUser(
  db: Db,
  about: { project_id: string; user_id: string; after: string },
): Promise<string[]> {
  const named = sql`project_id = ${about.project_id} and user_id = ${about.user_id}`
  const { rows } = await sql<{ id: string }>`
    select trace_id::text as id from (
      select trace_id from hot_observations where ${named}
      union select trace_id from hot_traces where ${named}
    ) as named
    where trace_id::text > ${about.after} order by id limit ${maxRetentionIds}`.execute(db)
  return rows.map(({ id }) => id)
}

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
  const transaction = db.transaction()
  const create = async (trx: Connection) => {
    await sql`select pg_advisory_xact_lock(${partitionLock})`.execute(trx)
    if ((await partitionsOf(trx, table)).some((each) => each.day === day)) return
    // A removal that was cut off may have left the table.
    await sql`drop table if exists ${sql.id(name)}`.execute(trx)
    await sql`create table ${sql.id(name)} (like ${sql.id(table)} including all)`.execute(trx)
    for (const statement of partitionPolicy(name)) await sql.raw(statement).execute(trx)
    const [from, to] = [BigInt(day) * day_ns, BigInt(day + 1) * day_ns]
    await sql`alter table ${sql.id(table)} attach partition ${sql.id(name)}
      for values from (${sql.lit(`${from}`)}) to (${sql.lit(`${to}`)})`.execute(trx)
  }
  await runAsOwner('partitions of all projects', () => transaction.execute(create))
}

/** Lists the days with partitions of a table. */
async function partitionsOf(
  db: Connection,
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
 * from widening meanwhile. Detaching waits for running statements without stopping them. It cannot
 * run in a transaction, so the transaction with the lock is that of a second connection.
 */
export async function dropPartitions(db: Db, keepFrom: (db: Db) => Promise<number>) {
  const dropped: string[] = []
  const drop = async (locked: Db) => {
    await lockHotWindows(locked)
    const first = await runInInstallation('hot windows of all projects', () => keepFrom(locked))
    for (const table of Object.keys(hotTables) as HotTableName[]) {
      for (const { day, pending } of await partitionsOf(locked, table)) {
        if (day >= first) continue
        // Rejects if the connection with the lock is lost.
        await sql`select 1`.execute(locked)
        await dropPartition(db, { table, day }, pending)
        dropped.push(partitionName({ table, day }))
      }
    }
  }
  await runAsOwner('partitions of all projects', () => db.transaction().execute(drop))
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
