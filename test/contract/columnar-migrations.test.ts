import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { observationColumnTypes } from '../../src/capabilities/storage/row-format/columns.ts'
import {
  type ColumnarServer,
  columnarSchemaStatus,
  migrateColumnar,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { columnarMigrationsDirectory } from '../../src/platform/columnar/migrate-columnar.ts'
import { renderStatement } from '../../src/platform/columnar/render-statement.ts'
import { MigrationRefused, readMigrations } from '../../src/platform/migrations/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
let parts: AsyncDisposableStack
let columnar: ColumnarServer
let directory: string

const first = `create table if not exists {{table:a}} {{on_cluster}} (n UInt8)
engine = {{engine:MergeTree}} order by n
-- statement
{{distributed:a by n}}
-- statement
alter table {{table:a}} add column if not exists text String default 'x'
-- statement
insert into a (n) select 1 where (select count() from a) = 0`

beforeEach(async () => {
  parts = new AsyncDisposableStack()
  columnar = openColumnar(columnarOptions(await testClickHouse('empty')))
  parts.defer(() => columnar.close())
  directory = await mkdtemp(join(tmpdir(), 'looptrace-columnar-migrations-'))
  parts.defer(() => rm(directory, { recursive: true }))
  await write('0001_a.sql', first)
  await write('0002_b.sql', 'create table if not exists b (n UInt8) engine = Memory')
})
afterEach(() => parts.disposeAsync())

test('from an empty server to the current schema, and again without a change', async () => {
  const pending = ['0001_a', '0002_b']
  const before = { current: 0, latest: 2, pending, newer: [] }
  expect(await columnarSchemaStatus({ columnar, directory })).toEqual(before)
  const after = { current: 2, latest: 2, pending: [], newer: [] }
  expect(await migrate()).toEqual(after)
  expect(await columnarSchemaStatus({ columnar, directory })).toEqual(after)
  const statements: string[] = []
  expect(
    await migrate({ after_statement: ({ migration }) => void statements.push(migration) }),
  ).toEqual(after)
  expect(statements).toEqual([])
  expect(await columnar.query('SELECT * FROM a')).toEqual([{ n: 1, text: 'x' }])
})

test('a run that ends after any statement is finished by the next', async () => {
  for (let last = 1; last <= 5; last++) {
    let done = 0
    const own = openColumnar(columnarOptions(await testClickHouse('empty')))
    parts.defer(() => own.close())
    const cut = migrateColumnar({
      columnar: own,
      directory,
      logger,
      after_statement: () => {
        done += 1
        if (done === last) throw new Error('killed')
      },
    })
    await expect(cut).rejects.toThrow('killed')
    const { pending } = await columnarSchemaStatus({ columnar: own, directory })
    expect(pending).toEqual(last === 5 ? ['0002_b'] : ['0001_a', '0002_b'])
    const status = await migrateColumnar({ columnar: own, directory, logger })
    expect(status.pending).toEqual([])
    expect(await own.query('SELECT * FROM a')).toEqual([{ n: 1, text: 'x' }])
  }
})

test('several concurrent runs do no harm', async () => {
  const statuses = await Promise.all([1, 2, 3, 4].map(() => migrateColumnar({ columnar, logger })))
  for (const status of statuses) expect(status.pending).toEqual([])
})

test('an edited file and a newer schema are refused', async () => {
  await migrate()
  await write('0002_b.sql', 'create table if not exists b (n UInt16) engine = Memory')
  await expect(migrate()).rejects.toThrow('0002_b: checksum')
  await rm(join(directory, '0002_b.sql'))
  const status = { current: 2, latest: 1, pending: [], newer: ['0002_b'] }
  expect(await columnarSchemaStatus({ columnar, directory })).toEqual(status)
  await expect(migrate()).rejects.toBeInstanceOf(MigrationRefused)
})

test.each(['0004_hole.sql', '3_short.sql', '0003_Name.sql'])(
  'the file %s is refused',
  async (file) => {
    await write(file, 'select 1')
    await expect(migrate()).rejects.toBeInstanceOf(MigrationRefused)
  },
)

test('the table of observations has the columns that are written', async () => {
  const own = await migratedClickHouse()
  parts.defer(() => own.close())
  const columns = await own.query<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns
     WHERE database = currentDatabase() AND table = 'observations' ORDER BY position`,
  )
  expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toEqual({
    ...observationColumnTypes,
    // A copy of an attribute, which ClickHouse makes.
    cluster_name: 'LowCardinality(String)',
    ingested_at: "DateTime64(3, 'UTC')",
  })
})

test('in a cluster ClickHouse can parse every statement', async () => {
  await columnar.createDatabase()
  const table_settings = new Set(['auto_statistics_types'])
  const target = { cluster: "main's", database: columnar.database, table_settings }
  const migrations = await readMigrations(columnarMigrationsDirectory)
  const statements = migrations
    .flatMap((migration) => migration.statements)
    .map(({ text }) => renderStatement(text, target))
  const read = 'SELECT formatQuery({statement:String}) AS text'
  for (const statement of statements) {
    const [row] = await columnar.query<{ text: string }>(read, { statement })
    expect(row?.text).toMatch(/^(CREATE TABLE IF NOT EXISTS|ALTER TABLE) \w+ ON CLUSTER `main's`/)
  }
  await expect(columnar.query(read, { statement: 'create tabel a' })).rejects.toThrow('62')
  const all = statements.join('\n')
  expect(all).toMatch(/create table if not exists observations_local on cluster `main's`/)
  expect(all).toContain(
    "ReplicatedReplacingMergeTree('/clickhouse/looptrace/main\\'s/{database}/{table}/{shard}', '{replica}', ingested_at)",
  )
  expect(all).toMatch(
    /Distributed\('main\\'s', '\w+', 'observations_local', cityHash64\(project_id, trace_id\)\)/,
  )
})

test('a setting that this version lacks is left unset', async () => {
  await write(
    '0003_c.sql',
    `create table if not exists {{table:c}} (n UInt8) engine = MergeTree order by n
settings {{durability}}{{if_known:merge_max_block_size = 4096}}{{if_known:no_such_setting = 1}}`,
  )
  await migrate()
  const [table] = await columnar.query<{ engine_full: string }>(
    "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'c'",
  )
  expect(table?.engine_full).toContain('merge_max_block_size = 4096')
})

test('a schema of the migrations before the first release is refused, and nothing is changed', async () => {
  await write('0001_observations.sql', 'create table if not exists old (n UInt8) engine = Memory')
  await rm(join(directory, '0001_a.sql'))
  await migrate()
  const refusal =
    /has migration 0001_observations, this code has 0001_schema in its place.*Start with empty databases/
  const current = { columnar, logger }
  await expect(migrateColumnar(current)).rejects.toThrow(refusal)
  await expect(columnarSchemaStatus({ columnar })).rejects.toBeInstanceOf(MigrationRefused)
  const tables = await columnar.query('SHOW TABLES')
  expect(tables).toEqual(['b', 'old', 'schema_migrations'].map((name) => ({ name })))
})

test('the numbers of the files have no gaps', async () => {
  const migrations = await readMigrations(columnarMigrationsDirectory)
  const files = (await readdir(columnarMigrationsDirectory)).sort()
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files)
  for (const file of files) {
    expect(await readFile(join(columnarMigrationsDirectory, file), 'utf8')).not.toMatch(/\r/)
  }
})

function migrate(about: Partial<Parameters<typeof migrateColumnar>[0]> = {}) {
  return migrateColumnar({ columnar, directory, logger, ...about })
}

function write(file: string, text: string): Promise<void> {
  return writeFile(join(directory, file), text)
}
