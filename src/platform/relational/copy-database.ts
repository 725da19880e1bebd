import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { partitionPolicy } from './tenant-policies.ts'

/** Options of a copy. Both databases must be at the same schema. */
type CopyDatabaseOptions = {
  source_url: string
  target_url: string
  /** Tables of the target that are not part of the copy. */
  excluded: readonly string[]
  /** Runs in the target's transaction after the last table, just before the commit. */
  complete: (target: Pick<pg.Client, 'query'>) => Promise<void>
  signal?: AbortSignal
}

/** The number of rows of a table. */
type TableRows = { table: string; rows: number }

/** The copy cannot be made, and nothing was changed. The message says what to do. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/**
 * Copies all rows of one database into an empty one: one snapshot of the source, one transaction of
 * the target, tables before those that refer to them, and a checksum of each. A kill at any moment
 * leaves the target empty. The source is only read. Throws CopyRefused when the target has rows.
 */
export async function copyDatabase(options: CopyDatabaseOptions): Promise<TableRows[]> {
  await using source = await connect(options.source_url)
  await using target = await connect(options.target_url)
  await begin(source.client, 'begin isolation level repeatable read read only')
  await begin(target.client)
  const tables = await listTables(target.client, options.excluded)
  await assertEmpty(target.client, tables)
  await lockTables(target.client, tables)
  const lowered = await suspendPolicies(target.client, tables)
  const copied: TableRows[] = []
  for (const table of sortByReferences(tables)) {
    options.signal?.throwIfAborted()
    const rows = await copyTable(source.client, target.client, table)
    copied.push({ table: table.name, rows })
  }
  await copySequences(source.client, target.client)
  await setForced(target.client, lowered, 'force')
  await options.complete(target.client)
  await target.client.query('commit')
  return copied
}

/** Throws CopyRefused when a table of a database has rows, unless it is excluded. */
export async function assertDatabaseEmpty(url: string, excluded: readonly string[]): Promise<void> {
  await using database = await connect(url)
  await begin(database.client)
  await assertEmpty(database.client, await listTables(database.client, excluded))
}

/** Counts the rows of each table of a database, without the excluded tables. */
export async function countRows(url: string, excluded: readonly string[]): Promise<TableRows[]> {
  await using database = await connect(url)
  await begin(database.client)
  const counts: TableRows[] = []
  for (const { name } of await listTables(database.client, excluded)) {
    const { rows } = await database.client.query(`select count(*) as rows from ${quote(name)}`)
    counts.push({ table: name, rows: Number(rows[0].rows) })
  }
  return counts
}

/** Rows are compared and sent as text, so both transactions must format values alike. */
const sameText = `set local timezone to 'UTC'; set local datestyle to 'ISO, YMD';
  set local intervalstyle to 'iso_8601'; set local bytea_output to 'hex';
  set local extra_float_digits to 1; set local statement_timeout to 0;
  set local looptrace.scope to 'installation'`

/** Begins a transaction that reads all rows. Its settings end with it, as a pooler needs. */
async function begin(client: pg.Client, text = 'begin'): Promise<void> {
  await client.query(text)
  await client.query(sameText)
}

const connectTimeoutMs = 10_000

async function connect(url: string): Promise<AsyncDisposable & { client: pg.Client }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'looptrace move',
  })
  // The running statement rejects as well. Without a handler, the process would exit.
  client.on('error', () => undefined)
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

/** A table, its columns in order, and the tables that it refers to. */
type Table = { name: string; columns: string[]; references: string[] }

async function listTables(client: pg.Client, excluded: readonly string[]): Promise<Table[]> {
  const { rows } = await client.query<Table>(tablesText, [excluded])
  return rows
}

/** Tables of the schema that Looptrace uses; a partition belongs to its table. */
const tablesText = `
  select c.relname as name,
    (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    ) as columns,
    array(select distinct f.confrelid::regclass::text from pg_constraint f
     where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as "references"
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    and not c.relispartition and not c.relname = any($1)
  order by c.relname`

async function assertEmpty(client: pg.Client, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await client.query(`select exists(select from ${quote(name)}) as found`)
    if (rows[0]?.found !== true) continue
    throw new CopyRefused(
      `the PostgreSQL database is not empty: table ${name} has rows. Use an empty database, in which no role has run.`,
    )
  }
}

/**
 * Exempts the owner from row-level security until the commit, because PostgreSQL refuses COPY into
 * a table with a policy. Returns the names of the changed tables.
 */
async function suspendPolicies(client: pg.Client, tables: readonly Table[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relname = any($1)
       and row_security_active(oid)`,
    [tables.map(({ name }) => name)],
  )
  const names = rows.map(({ name }) => name)
  await setForced(client, names, 'no force')
  return names
}

async function setForced(
  client: pg.Client,
  names: readonly string[],
  how: 'force' | 'no force',
): Promise<void> {
  for (const name of names) {
    await client.query(`alter table ${quote(name)} ${how} row level security`)
  }
}

/** Locks the tables against writes until the commit. Reads stay possible. */
async function lockTables(client: pg.Client, tables: readonly Table[]): Promise<void> {
  const names = tables.map(({ name }) => quote(name)).join(', ')
  await client.query(`lock table ${names} in exclusive mode`)
  await assertEmpty(client, tables)
}

/** Sorts tables so that each follows the tables that it refers to. */
function sortByReferences<T extends Pick<Table, 'name' | 'references'>>(tables: readonly T[]): T[] {
  const sorted: T[] = []
  const placed = new Set<string>()
  let waiting = [...tables]
  while (waiting.length > 0) {
    const ready = waiting.filter(({ references }) => references.every((name) => placed.has(name)))
    if (ready.length === 0) {
      const names = waiting.map(({ name }) => name).join(', ')
      throw new CopyRefused(
        `tables refer to each other, or to a table that is not copied: ${names}`,
      )
    }
    sorted.push(...ready)
    for (const { name } of ready) placed.add(name)
    waiting = waiting.filter(({ name }) => !placed.has(name))
  }
  return sorted
}

async function copyTable(source: pg.Client, target: pg.Client, table: Table): Promise<number> {
  await createPartitions(source, target, table)
  const columns = table.columns.map(quote).join(', ')
  const name = quote(table.name)
  const reader = source.query(copyTo(`copy (select ${columns} from ${name}) to stdout`))
  const writer = target.query(copyFrom(`copy ${name} (${columns}) from stdin`))
  await pipeline(reader, writer)
  const [given, stored] = [await checksum(source, table), await checksum(target, table)]
  if (given.rows === stored.rows && given.sum === stored.sum) return Number(given.rows)
  throw new Error(
    `${table.name}: copied ${given.rows} rows, but the read-back differs: ${stored.rows} rows`,
  )
}

/** Creates the partitions of a partitioned table that the target does not have. */
async function createPartitions(
  source: pg.Client,
  target: pg.Client,
  { name }: Table,
): Promise<void> {
  const { rows } = await source.query<{ partition: string; bounds: string }>(partitionsText, [name])
  for (const { partition, bounds } of rows) {
    await target.query(
      `create table if not exists ${quote(partition)} partition of ${quote(name)} ${bounds}`,
    )
    for (const statement of partitionPolicy(partition)) await target.query(statement)
  }
}

const partitionsText = `
  select c.relname as partition, pg_get_expr(c.relpartbound, c.oid) as bounds
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = to_regclass($1) and not i.inhdetachpending`

type Checksum = { rows: string; sum: string }

/** Counts the rows, and adds up a hash of each: equal for equal rows in any order. */
async function checksum(client: pg.Client, { name, columns }: Table): Promise<Checksum> {
  const row = columns.map(quote).join(', ')
  const { rows } = await client.query<Checksum>(
    `select count(*)::text as rows,
       coalesce(sum(hashtextextended(row(${row})::text, 0)::numeric), 0)::text as sum
     from ${quote(name)}`,
  )
  return rows[0] ?? { rows: '0', sum: '0' }
}

/** Sets each sequence, also those of identity columns, to its value in the source. */
async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string; value: string }>(
    `select sequencename as name, last_value::text as value from pg_sequences
     where schemaname = current_schema() and last_value is not null`,
  )
  for (const { name, value } of rows) {
    await target.query('select setval(to_regclass($1), $2::bigint)', [quote(name), value])
  }
}

function quote(name: string): string {
  return pg.escapeIdentifier(name)
}
