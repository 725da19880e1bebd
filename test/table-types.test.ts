import { expect, test } from 'vitest'
import { tableTypeFiles } from '../scripts/table-types.ts'
import { tablesOf } from '../scripts/tables-of-migrations.ts'
import { parseMigration } from '../src/platform/migrations/index.ts'

/** The statements of a later migration, which the schema of today does not have. */
const later = `-- # JobRun: work, and its (many, many) runs.

-- Runs of jobs.
create table runs (
  id uuid primary key,
  -- Where it is, at most 3.
  state text not null default 'queued' check (state in ('queued', 'ended')),
  outcome text check (outcome in ('good', 'bad')),
  total numeric(20, 9) not null,
  is_ended boolean not null generated always as (state = 'ended') stored,
  unique (state, total)
);
-- Workers look for the oldest.
create index runs_by_state on runs (state)
-- statement
alter table runs
  -- Labels, in any order.
  add column if not exists labels text[] not null default '{}',
  add column notes jsonb,
  add column ended_at timestamptz(3)
`

test('columns of later migrations get types and descriptions', () => {
  const tables = tablesOf([parseMigration('0001_a.sql', later)])
  const [{ about, room, columns, keys } = expect.fail()] = tables
  expect({ about, room }).toEqual({ about: 'Runs of jobs.', room: 'JobRun' })
  expect(keys).toEqual(['unique (state, total)', 'index (state)'])
  const described = columns.filter((column) => column.about !== '')
  expect(described.map((column) => [column.name, column.about])).toEqual([
    ['state', 'Where it is, at most 3.'],
    ['labels', 'Labels, in any order.'],
  ])
})

test('a statement that the parser does not know is refused', () => {
  const unknown = parseMigration('0002_b.sql', 'alter table runs drop column notes')
  expect(() => tablesOf([unknown])).toThrow('0002_b: can not be read for the page of tables: alter')
})

test('a room has a file, and its rows have the types that are read and written', () => {
  const tables = tablesOf([parseMigration('0001_a.sql', later)])
  expect(() => tableTypeFiles(tables)).toThrow('table-overrides.ts: no column')
  const [file] = tableTypeFiles(tables, { 'runs.notes': 'readonly string[]' })
  expect(file?.path).toBe('src/platform/relational/tables/job-run-tables.ts')
  expect(file?.content).toContain(`export interface JobRunTables {
  runs: {
    id: string
    state: ByDefault<'queued' | 'ended'>
    outcome: OrNull<'good' | 'bad'>
    total: string
    is_ended: Computed<boolean>
    labels: ByDefault<string[]>
    notes: JsonOrNull<readonly string[]>
    ended_at: InstantOrNull
  }
}`)
})
