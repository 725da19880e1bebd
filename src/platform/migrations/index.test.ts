import { expect, test } from 'vitest'
import {
  type AppliedMigration,
  assertSchemaCurrent,
  compareSchema,
  MigrationRefused,
  parseMigration,
} from './index.ts'

test('splits a file at separator lines only', () => {
  const source = [
    '-- what it is for',
    'create function f() returns text as $$ begin; -- statement',
    "return ';'; end $$ language plpgsql;",
    '-- statement',
    '  -- statement',
    'select 1',
    '-- statement without transaction',
    'create index concurrently if not exists a on b (c)',
    '-- statement',
    '-- only words',
    '',
  ].join('\n')
  const { version, name, statements } = parseMigration('0012_a_change.sql', source)
  expect({ version, name }).toEqual({ version: 12, name: '0012_a_change' })
  expect(statements).toEqual([
    { text: source.split('\n').slice(0, 3).join('\n'), transactional: true },
    { text: '-- statement\nselect 1', transactional: true },
    { text: 'create index concurrently if not exists a on b (c)', transactional: false },
  ])
})

test('line ends do not change the statements or the checksum', () => {
  const unix = parseMigration('0001_a.sql', 'select 1\n-- statement\nselect 2\n')
  const windows = parseMigration('0001_a.sql', 'select 1\r\n-- statement\r\nselect 2\r\n')
  expect(windows).toEqual(unix)
  expect(parseMigration('0001_a.sql', 'select 1\n-- statement\nselect 3\n').checksum).not.toBe(
    unix.checksum,
  )
})

test('comments do not change the checksum, separators do', () => {
  const checksumOf = (source: string) => parseMigration('0001_a.sql', source).checksum
  const { checksum } = parseMigration(
    '0001_a.sql',
    '-- A table.\ncreate table a (\n  -- A number.\n  n int\n)',
  )
  expect(checksumOf('-- Numbers.\ncreate table a (\n  n int\n)')).toBe(checksum)
  expect(checksumOf('create table a (\n  n bigint\n)')).not.toBe(checksum)
  expect(checksumOf('select 1\n-- statement\nselect 2')).not.toBe(
    checksumOf('select 1\n-- statement without transaction\nselect 2'),
  )
})

test.each([
  ['1_a.sql', 'select 1'],
  ['0001-a.sql', 'select 1'],
  ['0001_a.sql.bak', 'select 1'],
  ['0001_a.sql', '-- nothing but words\n'],
])('rejects %s with "%s"', (file, source) => {
  expect(() => parseMigration(file, source)).toThrow(MigrationRefused)
})

const files = ['0001_a', '0002_b'].map((name) => parseMigration(`${name}.sql`, `select '${name}'`))

function row(version: number, changes: Partial<AppliedMigration> = {}): AppliedMigration {
  const file = files[version - 1]
  const name = file?.name ?? `000${version}_new`
  const checksum = file?.checksum ?? 'a'.repeat(64)
  return { version, name, checksum, finished: true, ...changes }
}

test('in an empty database, all migrations are pending', () => {
  const status = compareSchema(files, [])
  expect(status).toEqual({ current: 0, latest: 2, pending: ['0001_a', '0002_b'], newer: [] })
  expect(() => assertSchemaCurrent(status)).toThrow('at 0 of 2: run migrate for 0001_a, 0002_b')
})

test('only finished migrations count as applied', () => {
  const halfway = row(2, { finished: false })
  expect(compareSchema(files, [row(1), halfway])).toMatchObject({ current: 1, pending: ['0002_b'] })
  const done = compareSchema(files, [row(1), row(2)])
  expect(done).toEqual({ current: 2, latest: 2, pending: [], newer: [] })
  expect(() => assertSchemaCurrent(done)).not.toThrow()
})

test('a newer database is reported, and fails the check', () => {
  const status = compareSchema(files, [row(1), row(2), row(3)])
  expect(status).toEqual({ current: 3, latest: 2, pending: [], newer: ['0003_new'] })
  expect(() => assertSchemaCurrent(status)).toThrow('has 0003_new, this code ends at 2')
})

test('rejects a changed file and a file numbered below an applied one', () => {
  const changed = row(1, { checksum: 'b'.repeat(64) })
  expect(() => compareSchema(files, [changed])).toThrow(/0001_a: checksum \w{12}, but bbbbbbbbbbbb/)
  expect(() => compareSchema(files, [row(2)])).toThrow('0001_a is not applied, but later ones are')
})

test('a schema of other migrations is refused, with what to do', () => {
  const unreleased = { name: '0001_access', checksum: 'c'.repeat(64) }
  expect(() => compareSchema(files, [row(1, unreleased), row(2), row(3)])).toThrow(
    /has migration 0001_access, this code has 0001_a in its place.*Start with empty databases/,
  )
})
