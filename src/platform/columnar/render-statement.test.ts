import { expect, test } from 'vitest'
import { renderStatement } from './render-statement.ts'

const create = 'create table {{table:a}} {{on_cluster}} (n UInt8) engine = {{engine:MergeTree}}'

test('on one server, creates the table itself', () => {
  expect(renderStatement(create, { database: 'd' })).toBe(
    'create table a  (n UInt8) engine = MergeTree',
  )
  expect(renderStatement('{{distributed:a by n}}', { database: 'd' })).toBe('')
  expect(renderStatement('{{distributed_alter:a add column n UInt8}}', { database: 'd' })).toBe('')
  expect(renderStatement('-- why\n{{distributed:a by n}}', { database: 'd' })).toBe('')
  expect(renderStatement('settings {{durability}}', { database: 'd' })).toBe(
    'settings fsync_after_insert = 1, fsync_part_directory = 1',
  )
})

test('on a cluster, creates replicated tables and a distributed table', () => {
  const target = { database: "d'", cluster: 'c`' }
  expect(renderStatement(create, target)).toBe(
    'create table a_local on cluster `c\\`` (n UInt8) engine = ' +
      "ReplicatedMergeTree('/clickhouse/looptrace/c`/{database}/{table}/{shard}', '{replica}')",
  )
  const engine = '{{engine:ReplacingMergeTree(version)}}'
  expect(renderStatement(engine, { ...target, cluster: "m'" })).toBe(
    "ReplicatedReplacingMergeTree('/clickhouse/looptrace/m\\'/{database}/{table}/{shard}', '{replica}', version)",
  )
  expect(renderStatement('{{distributed:a by hash(n, m)}}', target)).toBe(
    "create table if not exists a on cluster `c\\`` as a_local\nengine = Distributed('c`', 'd\\'', 'a_local', hash(n, m))",
  )
  expect(renderStatement('{{distributed_alter:a\n add column n UInt8}}', target)).toBe(
    'alter table a on cluster `c\\`` add column n UInt8',
  )
  expect(renderStatement('settings {{durability}}', target)).toBe(
    'settings replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800',
  )
})

test('leaves out a setting that the version does not have', () => {
  const settings = 'settings a = 1{{if_known:b = 1}}'
  const known = { database: 'd', table_settings: new Set(['b']) }
  expect(renderStatement(settings, known)).toBe('settings a = 1, b = 1')
  for (const table_settings of [new Set<string>(), undefined]) {
    expect(
      renderStatement(settings, { database: 'd', ...(table_settings && { table_settings }) }),
    ).toBe('settings a = 1')
  }
})

test('rejects unknown placeholders', () => {
  for (const wrong of [
    '{{tabel:a}}',
    '{{distributed:a}}',
    '{{distributed_alter:a}}',
    '{{if_known:a}}',
  ]) {
    expect(() => renderStatement(wrong, { database: 'd', cluster: 'c' })).toThrow(TypeError)
  }
})
