import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tablesOf } from '../../scripts/tables-of-migrations.ts'
import { MigrationRefused, readMigrations } from '../../src/platform/migrations/index.ts'
import {
  type AppliedStatement,
  MigrationFailed,
  migrateRelational,
  openRelational,
  relationalSchemaStatus,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'
import { quarterOf } from '../support/suite/budget.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
let folder: string
/** The names of the product's own migrations, in order. */
let ownMigrations: string[]

beforeAll(async () => {
  const files = await readdir('src/platform/relational/migrations')
  ownMigrations = files.map((file) => file.replace('.sql', '')).toSorted()
  folder = await mkdtemp(join(tmpdir(), 'looptrace-migrations-'))
})

afterAll(() => rm(folder, { recursive: true }))

test('killed after each statement in turn, the schema ends the same', async () => {
  const interrupted = await testPostgres('empty')
  const applied: AppliedStatement[] = []
  const killed = new Error('killed')
  const everyStatement = Array.from({ length: 1_000 }, (_, at) => 1 + at)
  const deadly = new Set(quarterOf(everyStatement))
  const after_statement = (done: AppliedStatement) => {
    applied.push(done)
    if (deadly.has(applied.length)) throw killed
  }
  for (let runs = 0; runs < 1_000; runs += 1) {
    const outcome = await migrateRelational({ url: interrupted, logger, after_statement }).catch(
      (error: unknown) => error,
    )
    if (outcome !== killed) break
  }
  const whole = applied.filter((done) => done.statement === done.statement_count)
  expect(whole.map((done) => done.migration)).toEqual(ownMigrations)
  expect(applied).toHaveLength(whole.reduce((sum, done) => sum + done.statement_count, 0))
  expect(await schemaOf(interrupted)).toEqual(await schemaOf(await testPostgres('migrated')))
})

test('a statement whose session is killed leaves nothing behind and is repeated', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({
    '0001_a.sql': [
      'create table fuse as select true as burns',
      'create table effects (done int)',
      'insert into effects values (1); select pg_terminate_backend(pg_backend_pid()) from fuse where burns',
      'insert into effects values (2)',
    ],
  })
  await expect(migrateRelational({ url, logger, directory })).rejects.toThrow(
    'migration 0001_a, statement 3 of 4',
  )
  expect(await rowsOf(url, 'select * from effects')).toEqual([])
  await rowsOf(url, 'update fuse set burns = false')
  expect(await migrateRelational({ url, logger, directory })).toMatchObject({ current: 1 })
  expect(await rowsOf(url, 'select * from effects order by 1')).toEqual([{ done: 1 }, { done: 2 }])
})

test('a statement and its record are atomic: killed between them, neither stays', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({
    '0001_a.sql': [
      'create table fuse as select true as burns; create table effects (done int)',
      `create function burn() returns trigger language plpgsql as $$ begin
         perform pg_terminate_backend(pg_backend_pid()) from fuse where burns; return new; end $$`,
      `create trigger burn before update on schema_migrations for each row
         when (new.statements_done = 4) execute function burn()`,
      'insert into effects values (1)',
    ],
  })
  const run = migrateRelational({ url, logger, directory })
  await expect(run).rejects.toThrow('migration 0001_a, statement 4 of 4')
  await rowsOf(url, 'update fuse set burns = false')
  await migrateRelational({ url, logger, directory })
  expect(await rowsOf(url, 'select * from effects')).toEqual([{ done: 1 }])
})

test('many concurrent migrators apply each statement once', async () => {
  const url = await testPostgres('empty')
  const applied: string[] = []
  const after_statement = ({ migration, statement }: AppliedStatement) => {
    applied.push(`${migration} ${statement}`)
  }
  const runs = Array.from({ length: 4 }, () => migrateRelational({ url, logger, after_statement }))
  const current = {
    current: ownMigrations.length,
    latest: ownMigrations.length,
    pending: [],
    newer: [],
  }
  expect(await Promise.all(runs)).toEqual([current, current, current, current])
  expect(new Set(applied).size).toBe(applied.length)
  expect(await schemaOf(url)).toEqual(await schemaOf(await testPostgres('migrated')))
})

test('an index is built concurrently while other migrators wait', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({
    '0001_a.sql': ['create table t (a int)'],
    '0002_b.sql': [
      '-- statement without transaction\ncreate index concurrently if not exists t_a on t (a)',
    ],
  })
  const runs = Array.from({ length: 3 }, () => migrateRelational({ url, logger, directory }))
  expect(await Promise.all(runs)).toHaveLength(3)
  const valid = "select indisvalid from pg_index where indexrelid = 't_a'::regclass"
  expect(await rowsOf(url, valid)).toEqual([{ indisvalid: true }])
})

test('a file that changed after it was applied is refused, by the status too', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({ '0001_a.sql': ['create table t (a int)'] })
  await migrateRelational({ url, logger, directory })
  await writeFile(`${directory}/0001_a.sql`, 'create table t (a bigint)')
  const refusal = /migration 0001_a: checksum \w{12}, but \w{12} is applied/
  await expect(migrateRelational({ url, logger, directory })).rejects.toThrow(refusal)
  await expect(statusOf(url, directory)).rejects.toThrow(refusal)
})

test('a gap in the numbers is refused before anything is applied', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({
    '0001_a.sql': ['select 1'],
    '0003_c.sql': ['select 1'],
  })
  const run = migrateRelational({ url, logger, directory })
  await expect(run).rejects.toThrow('0003_c.sql: expected number 2')
  expect(await statusOf(url)).toMatchObject({ current: 0, pending: ownMigrations })
})

test('a database newer than the code is refused', async () => {
  const url = await testPostgres('empty')
  const files = { '0001_a.sql': ['select 1'], '0002_b.sql': ['select 2'] }
  await migrateRelational({ url, logger, directory: await migrationsFolder(files) })
  const directory = await migrationsFolder({ '0001_a.sql': ['select 1'] })
  await expect(migrateRelational({ url, logger, directory })).rejects.toThrow(MigrationRefused)
  expect(await statusOf(url, directory)).toEqual({
    current: 2,
    latest: 1,
    pending: [],
    newer: ['0002_b'],
  })
})

test('a schema of the migrations before the first release is refused, and nothing is changed', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({
    '0001_access.sql': ['create table organizations (id uuid primary key)'],
    '0002_tasks.sql': ['create table tasks (id uuid primary key)'],
  })
  await migrateRelational({ url, logger, directory })
  const refusal =
    /has migration 0001_access, this code has 0001_schema in its place.*Start with empty databases/
  await expect(migrateRelational({ url, logger })).rejects.toThrow(refusal)
  await expect(statusOf(url)).rejects.toBeInstanceOf(MigrationRefused)
  const tables = await rowsOf(
    url,
    "select tablename from pg_tables where schemaname = 'public' order by 1",
  )
  expect(tables).toEqual(
    ['organizations', 'schema_migrations', 'tasks'].map((tablename) => ({ tablename })),
  )
})

test('the generated pages and types have the tables and columns of the database', async () => {
  const tables = tablesOf(await readMigrations('src/platform/relational/migrations'))
  const described = tables.flatMap((table) =>
    table.columns.map(({ name, type, rules }) => ({
      column: `${table.name}.${name}`,
      type,
      nullable: !/not null|primary key/.test(rules) && !isKey(table.keys, name),
      has_default: /\bdefault\b|\bgenerated\b/.test(rules),
    })),
  )
  const stored = await rowsOf(
    await testPostgres('migrated'),
    `select c.relname || '.' || a.attname as column,
       format_type(a.atttypid, a.atttypmod) ||
         case when a.attcollation = '"C"'::regcollation then ' collate "C"' else '' end as type,
       not a.attnotnull as nullable, a.atthasdef or a.attidentity <> '' as has_default
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and c.relname <> 'schema_migrations' and a.attnum > 0 and not a.attisdropped
     order by c.relname collate "C", a.attnum`,
  )
  expect(described.length).toBeGreaterThan(1_000)
  expect(described.map((one) => ({ ...one, type: formatType(one.type) }))).toEqual(stored)
})

test('a statement that the database refuses is named, with its cause', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({ '0001_a.sql': ['select 1', 'select * from nowhere'] })
  const error = await migrateRelational({ url, logger, directory }).catch((error) => error)
  expect(error).toBeInstanceOf(MigrationFailed)
  expect(error).toMatchObject({
    message: 'migration 0001_a, statement 2 of 2: relation "nowhere" does not exist',
    cause: { code: '42P01' },
  })
})

test('a migrator gives up on a lock that is never released', async () => {
  const url = await testPostgres('empty')
  const directory = await migrationsFolder({ '0001_a.sql': ['select 1'] })
  let second: Promise<unknown> = Promise.resolve()
  const after_statement = async () => {
    second = migrateRelational({ url, logger, directory, lock_timeout_ms: 100 })
    await expect(second).rejects.toThrow('another migrator held the lock for 100 ms')
  }
  await migrateRelational({ url, logger, directory, after_statement })
  expect.assertions(1)
})

/** Whether a primary key of several columns has the column, which makes it not null. */
function isKey(keys: readonly string[], column: string): boolean {
  const key = keys.find((one) => one.startsWith('primary key')) ?? ''
  return /\(([^)]*)\)/.exec(key)?.[1]?.split(', ').includes(column) === true
}

/** A type as the catalogue writes it. */
function formatType(type: string): string {
  return type
    .replace(/^int\b/, 'integer')
    .replace(/^timestamptz(\(\d\))?/, 'timestamp$1 with time zone')
    .replace(
      /^numeric\((\d+)(?:, (\d+))?\)/,
      (_, digits, scale) => `numeric(${digits},${scale ?? 0})`,
    )
}

async function migrationsFolder(files: Record<string, string[]>): Promise<string> {
  const directory = await mkdtemp(join(folder, 'm-'))
  for (const [name, statements] of Object.entries(files)) {
    await writeFile(`${directory}/${name}`, statements.join('\n-- statement\n'))
  }
  return directory
}

async function withPool<T>(
  url: string,
  use: (pool: ReturnType<typeof openRelational>['pool']) => Promise<T>,
): Promise<T> {
  const limits = { pool_max: 1, connect_timeout_ms: 10_000, statement_timeout_ms: 10_000 }
  const store = openRelational({ scope: allTenants, url, ...limits, logger })
  return use(store.pool).finally(store.close)
}

function rowsOf(url: string, statement: string): Promise<unknown[]> {
  return withPool(url, async (pool) => (await pool.query(statement)).rows)
}

function statusOf(url: string, directory?: string) {
  return withPool(url, (pool) =>
    relationalSchemaStatus({ pool, ...(directory === undefined ? {} : { directory }) }),
  )
}

/** Every column, index and constraint, and the runner's records, as text. */
async function schemaOf(url: string): Promise<unknown[]> {
  const parts = await Promise.all([
    rowsOf(
      url,
      `select table_name, column_name, ordinal_position, data_type, datetime_precision,
         is_nullable, column_default
       from information_schema.columns where table_schema = 'public' order by 1, 3`,
    ),
    rowsOf(url, "select indexdef from pg_indexes where schemaname = 'public' order by 1"),
    rowsOf(
      url,
      `select conrelid::regclass::text as relation, conname, pg_get_constraintdef(oid) as rule
       from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
    ),
    rowsOf(
      url,
      `select version, name, checksum, statements_done, finished_at is not null as finished
       from schema_migrations order by 1`,
    ),
  ])
  for (const part of parts) expect(part.length).toBeGreaterThan(0)
  return parts
}
