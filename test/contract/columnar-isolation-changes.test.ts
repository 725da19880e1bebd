import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  openClickHouseErasure,
  openClickHouseRetentionStore,
  type RecordKind,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { fillTable, listTenantTables } from '../support/foreign-rows.ts'

const kinds: readonly RecordKind[] = ['observations', 'traces', 'events', 'links', 'correlations']

let columnar: ColumnarServer
/** The projects of a test. */
let [own, other, third] = ['', '', '']

beforeAll(async () => {
  columnar = await migratedClickHouse(await testClickHouse('own'))
})
beforeEach(async () => {
  ;[own, other, third] = [newId(), newId(), newId()]
  const counts = { [own]: 3, [other]: 5, [third]: 7 }
  for (const table of await listTenantTables(columnar)) await fillTable(columnar, table, counts)
})
afterAll(() => columnar?.close())

async function countRows(table: string): Promise<Record<string, number>> {
  const rows = await columnar.query<{ project_id: string; rows: string }>(
    `SELECT project_id, count() AS rows FROM ${table}
     WHERE project_id IN {projects:Array(UUID)} GROUP BY project_id`,
    { projects: [own, other, third] },
  )
  return Object.fromEntries(rows.map(({ project_id, rows }) => [project_id, Number(rows)]))
}

const day_ns = 86_400_000_000_000n

/** All rows of a project in a kind. */
function everything(project_id: string, kind: RecordKind) {
  const now = BigInt(Date.now()) * 1_000_000n
  return { project_id, kind, from: now - 2n * day_ns, to: now + day_ns, held_trace_ids: [] }
}

test('retention deletes only rows of its project, in parts with rows of others', async () => {
  const store = openClickHouseRetentionStore({ columnar })
  for (const kind of kinds) {
    await columnar.command(`OPTIMIZE TABLE ${kind} FINAL`)
    await store.deleteRows(everything(own, kind))
    expect([kind, await countRows(kind)]).toEqual([kind, { [other]: 5, [third]: 7 }])
  }
})

test('retention of two projects at the same time, in one statement, leaves the third', async () => {
  const store = openClickHouseRetentionStore({ columnar })
  for (const kind of kinds) {
    await Promise.all([own, other].map((id) => store.deleteRows(everything(id, kind))))
    expect([kind, await countRows(kind)]).toEqual([kind, { [third]: 7 }])
  }
})

test('an erasure with the traces of all projects deletes rows of its own', async () => {
  const traces = await columnar.query<{ id: string }>(
    'SELECT toString(trace_id) AS id FROM observations UNION DISTINCT SELECT toString(trace_id) FROM traces',
  )
  const about = { project_id: own, user_id: '', held_trace_ids: [] }
  const trace_ids = traces.map(({ id }) => id)
  const store = openClickHouseRetentionStore({ columnar })
  await store.eraseUser({ ...about, trace_ids })
  const restored = openClickHouseErasure({ columnar, tableOf: (kind) => `restored_${kind}` })
  await restored.eraseUser({ ...about, trace_ids })
  for (const kind of ['observations', 'traces', 'restored_observations', 'restored_traces']) {
    const left = await countRows(kind)
    expect([kind, left[other], left[third]]).toEqual([kind, 5, 7])
  }
  expect((await countRows('observations'))[own]).toBeUndefined()
})

test('a mask of content leaves rows of other projects as they are', async () => {
  await columnar.command(
    "ALTER TABLE observations UPDATE input = 'private', content_state = 'full' WHERE 1",
    {},
    { settings: { mutations_sync: 2 } },
  )
  await openClickHouseRetentionStore({ columnar }).maskContent(everything(own, 'observations'))
  const rows = await columnar.query<{ project_id: string; rows: string }>(
    `SELECT project_id, count() AS rows FROM observations
     WHERE input = 'private' AND project_id IN {projects:Array(UUID)} GROUP BY project_id`,
    { projects: [own, other, third] },
  )
  expect(Object.fromEntries(rows.map((row) => [row.project_id, Number(row.rows)]))).toEqual({
    [other]: 5,
    [third]: 7,
  })
})
