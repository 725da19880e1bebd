import { expect, test } from 'vitest'
import type { Columnar, ColumnarStatements, QueryParams } from '../../../platform/columnar/index.ts'
import { rowChanges } from './change-rows.ts'
import { ofProject } from './conditions.ts'
import { type TableTarget, targetFrom } from './table-target.ts'

const inCluster = targetFrom('lt', 'observations', {
  engine: "Distributed('prod', 'lt', 'observations_local', cityHash64(project_id, trace_id))",
  knows_patches: true,
})
const onOne = targetFrom('lt', 'observations', {
  engine: 'ReplacingMergeTree(ingested_at) PARTITION BY …',
  knows_patches: true,
})
const withPatches = targetFrom('lt', 'observations', {
  engine: 'ReplacingMergeTree(ingested_at) … SETTINGS enable_block_offset_column = 1',
  knows_patches: true,
})

/** Notes statements; every question is answered with these rows. */
function noting(rows: object[]) {
  const asked: { sql: string; params: QueryParams | undefined }[] = []
  const note = (sql: string, params?: QueryParams) => {
    asked.push({ sql: sql.replace(/\s+/g, ' ').trim(), params })
  }
  const statements = {
    query: async (sql: string, params?: QueryParams) => {
      note(sql, params)
      return rows
    },
    command: async (sql: string, params?: QueryParams) => note(sql, params),
    commandHosts: async (sql: string, params?: QueryParams) => {
      note(sql, params)
      return [{ host: 'a', port: 9000, status: 0 }]
    },
  } as unknown as ColumnarStatements
  return { columnar: columnarOf(statements), asked }
}

function columnarOf(statements: ColumnarStatements): Columnar {
  const scopes = { ofProjects: () => statements, acrossProjects: () => statements }
  return { database: 'lt', ...scopes } as unknown as Columnar
}

const condition = ofProject('00000000-0000-4000-8000-000000000001')
const ofOne = '(project_id = {project:UUID})'

/** A cluster of one server, which has applied its only change. */
const oneServer = { shard: 1, host: 'a', port: 9000, server: 1, last: '0000000000', waiting: 0 }

async function statementsOf(
  target: TableTarget,
  work: (changes: ReturnType<typeof rowChanges>) => Promise<unknown>,
): Promise<string[]> {
  const { columnar, asked } = noting([{ ...oneServer, found: 1, part: '202601_1_1_0' }])
  await work(rowChanges(columnar, target, 'observations'))
  return asked.map(({ sql }) => sql).filter((sql) => !sql.includes('system.'))
}

test('a change of a distributed table applies to its local tables on every server', async () => {
  expect(inCluster).toEqual({
    ...{ database: 'lt', table: 'observations_local', cluster: 'prod' },
    ...{ on_cluster: 'ON CLUSTER `prod`', parts: "clusterAllReplicas('prod', system.parts)" },
    mutations: "cluster('prod', system.mutations)",
    has_patches: false,
  })
  expect(await statementsOf(inCluster, (one) => one.deleteIn('202601', condition))).toEqual([
    `SELECT 1 AS found FROM observations WHERE ${ofOne} LIMIT 1`,
    `ALTER TABLE observations_local ON CLUSTER \`prod\` UPDATE _row_exists = 0 IN PARTITION ID '202601' WHERE ${ofOne}`,
  ])
  expect(
    await statementsOf(inCluster, (one) => one.updateIn('202601', "input = ''", condition)),
  ).toEqual([
    `SELECT 1 AS found FROM observations WHERE ${ofOne} LIMIT 1`,
    `ALTER TABLE observations_local ON CLUSTER \`prod\` UPDATE input = '' IN PARTITION ID '202601' WHERE ${ofOne}`,
  ])
  expect(await statementsOf(inCluster, (one) => one.purge('202601'))).toEqual([
    "ALTER TABLE observations_local ON CLUSTER `prod` APPLY DELETED MASK IN PARTITION ID '202601'",
  ])
  expect(await statementsOf(inCluster, (one) => one.dropPartition('202601'))).toEqual([
    "ALTER TABLE observations_local ON CLUSTER `prod` DROP PARTITION ID '202601'",
  ])
})

test('on one server whole parts are dropped first, by name', async () => {
  const [parts, drop, left, rest] = await statementsOf(onOne, (one) =>
    one.deleteIn('202601', condition),
  )
  expect(parts).toContain(`HAVING count() = countIf(${ofOne})`)
  expect(drop).toBe('ALTER TABLE observations DROP PART {part:String}')
  expect(left).toContain('SELECT 1 AS found FROM observations')
  expect(rest).toBe(`DELETE FROM observations IN PARTITION ID '202601' WHERE ${ofOne}`)
})

test('patches are applied before deleted rows are purged', async () => {
  expect(await statementsOf(withPatches, (one) => one.purge('202601'))).toEqual([
    "ALTER TABLE observations APPLY PATCHES IN PARTITION ID '202601'",
    "ALTER TABLE observations APPLY DELETED MASK IN PARTITION ID '202601'",
  ])
})

test('only valid names of partitions get into a statement', async () => {
  await expect(statementsOf(onOne, (one) => one.purge("x' OR 1 = 1 --"))).rejects.toThrow(TypeError)
})

test('a table with too many pending changes refuses further ones', async () => {
  const { columnar, asked } = noting([{ found: 1, waiting: '20' }])
  const changes = rowChanges(columnar, inCluster, 'observations')
  await expect(changes.purge('202601')).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(asked).toHaveLength(1)
})

test('an aborted signal prevents further statements and ends the wait for the running one', async () => {
  const stop = new AbortController()
  const { columnar, asked } = noting([{ ...oneServer, found: 1 }])
  const given: unknown[] = []
  const stoppable: ColumnarStatements = {
    ...columnar.acrossProjects('changes of rows'),
    commandHosts: async (_sql, _params, options) => {
      given.push(options?.signal)
      return [{ host: 'a', port: 9000, status: 0 }]
    },
  }
  const changes = rowChanges(columnarOf(stoppable), inCluster, 'observations', {
    signal: stop.signal,
  })
  await changes.purge('202601')
  expect(given).toEqual([stop.signal])
  const before = asked.length
  stop.abort(new Error('the worker stops'))
  await expect(changes.purge('202601')).rejects.toThrow('the worker stops')
  expect(given).toHaveLength(1)
  expect(asked).toHaveLength(before)
})
