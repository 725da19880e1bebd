import { expect, test } from 'vitest'
import { MigrationRefused, parseMigration } from './migration-files.ts'

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

test.each([
  ['1_a.sql', 'select 1'],
  ['0001-a.sql', 'select 1'],
  ['0001_a.sql.bak', 'select 1'],
  ['0001_a.sql', '-- nothing but words\n'],
])('rejects %s with "%s"', (file, source) => {
  expect(() => parseMigration(file, source)).toThrow(MigrationRefused)
})
