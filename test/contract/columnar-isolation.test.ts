import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { parseProjectId } from '../../src/model/project-id.ts'
import type { Columnar, ColumnarServer } from '../../src/platform/columnar/index.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { fillTable, listTenantTables, type TenantTable } from '../support/foreign-rows.ts'

const [own, other, third] = [newId(), newId(), newId()].map(parseProjectId)
if (own === undefined || other === undefined || third === undefined) throw new Error('no ids')
const counts = { [own]: 3, [other]: 5, [third]: 7 }

let columnar: ColumnarServer
let tables: TenantTable[]

beforeAll(async () => {
  columnar = await migratedClickHouse(await testClickHouse('own'))
  tables = await listTenantTables(columnar)
  for (const table of tables) await fillTable(columnar, table, counts)
  await columnar.command('CREATE VIEW seen AS SELECT project_id, trace_id FROM observations')
  await columnar.command('CREATE VIEW seen_again AS SELECT * FROM seen')
})
afterAll(() => columnar?.close())

type Counted = { project_id: string; rows: string }

const byProject = (from: string) =>
  `SELECT project_id, count() AS rows FROM ${from} GROUP BY project_id ORDER BY toString(project_id)`

test('a statement without any filter reads only rows of its project, in every table', async () => {
  expect(tables.map(({ name }) => name)).toContain('observations')
  for (const { name } of tables) {
    const statement = byProject(name)
    const all = await columnar.query<Counted>(statement)
    expect([name, all.length]).toEqual([name, 3])
    const rowsOf = (...ids: string[]) => all.filter(({ project_id }) => ids.includes(project_id))
    const one = columnar.ofProject(own)
    expect([name, await one.query(statement)]).toEqual([name, rowsOf(own)])
    expect([name, (await one.read(statement)).rows]).toEqual([name, rowsOf(own)])
    const next = columnar.ofProject(other)
    expect([name, await next.query(statement)]).toEqual([name, rowsOf(other)])
    const two = columnar.ofProjects([own, third])
    expect([name, await two.query(statement)]).toEqual([name, rowsOf(own, third)])
    expect(await columnar.ofProjects([]).query(statement)).toEqual([])
    const bytes = await one.queryRowBinary(`SELECT toUInt8(1) FROM ${name}`)
    expect([name, bytes.length]).toEqual([name, Number(rowsOf(own)[0]?.rows)])
  }
})

describe('a statement of a project reads only its rows', () => {
  const own_rows = String(counts[own])
  const shapes: [name: string, sql: string, rows?: string][] = [
    ['by another name', 'SELECT count() AS rows FROM observations AS o'],
    ['with the database', 'SELECT count() AS rows FROM {database}.observations'],
    ['with FINAL', 'SELECT count() AS rows FROM observations FINAL'],
    ['with PREWHERE', "SELECT count() AS rows FROM observations PREWHERE name = ''"],
    [
      'that asks for another one',
      `SELECT count() AS rows FROM observations WHERE project_id = '${other}'`,
      '0',
    ],
    [
      'that asks for any',
      `SELECT count() AS rows FROM observations WHERE project_id != '${other}' OR 1`,
    ],
    ['in a subquery', 'SELECT count() AS rows FROM (SELECT * FROM observations)'],
    ['in a scalar subquery', 'SELECT (SELECT count() FROM observations) AS rows'],
    [
      'in IN',
      `SELECT count() AS rows FROM observations
       WHERE trace_id IN (SELECT trace_id FROM observations)`,
    ],
    [
      'in IN of rows without a project',
      `SELECT count() AS rows FROM numbers(20)
       WHERE number IN (SELECT rowNumberInAllBlocks() FROM observations)`,
    ],
    [
      'in GLOBAL IN',
      `SELECT count() AS rows FROM observations
       WHERE trace_id GLOBAL IN (SELECT trace_id FROM observations)`,
    ],
    [
      'in a join',
      `SELECT count() AS rows FROM observations AS one
       LEFT JOIN observations AS next ON next.trace_id = one.trace_id`,
    ],
    [
      'in a full join',
      `SELECT count() AS rows FROM observations AS one
       FULL JOIN traces AS next ON next.trace_id = one.trace_id`,
      '6',
    ],
    ['in a cross join', 'SELECT count() AS rows FROM observations, traces', '9'],
    ['in WITH', 'WITH found AS (SELECT * FROM observations) SELECT count() AS rows FROM found'],
    ['in WITH as a value', 'WITH (SELECT count() FROM observations) AS found SELECT found AS rows'],
    [
      'in UNION ALL',
      `SELECT count() AS rows FROM (
       SELECT trace_id FROM observations UNION ALL SELECT trace_id FROM traces)`,
      '6',
    ],
    ['in a window', 'SELECT max(n) AS rows FROM (SELECT count() OVER () AS n FROM observations)'],
    [
      'with LIMIT BY',
      `SELECT count() AS rows FROM (
       SELECT * FROM observations ORDER BY ingested_at DESC LIMIT 1 BY trace_id, observation_id)`,
    ],
    ['of a view', 'SELECT count() AS rows FROM seen'],
    ['of a view of a view', 'SELECT count() AS rows FROM seen_again'],
    ['of view()', 'SELECT count() AS rows FROM view(SELECT * FROM observations)'],
    [
      'of the sums of minutes',
      `SELECT count() AS rows FROM signal_minutes
       WHERE (minute, version) GLOBAL IN (
         SELECT minute, max(version) FROM signal_minutes GROUP BY minute)`,
    ],
    [
      'with its own parameter',
      `SELECT count() AS rows FROM observations
       WHERE project_id = {project:UUID}`,
    ],
  ]
  test.each(shapes)('%s', async (_, sql, rows = own_rows) => {
    const text = sql.replace('{database}', columnar.database)
    const read = (given: Pick<Columnar, 'ofProject'>) =>
      given.ofProject(own).query(text, { project: other })
    expect(await read(columnar)).toEqual([{ rows }])
  })
})

describe('in the shape of a cluster', () => {
  let cluster: ColumnarServer

  // Tables over tables with the ending `_local`, on one server: this engine has no other servers.
  beforeAll(async () => {
    cluster = await migratedClickHouse(await testClickHouse('own'))
    const { database } = cluster
    for (const table of await listTenantTables(cluster)) {
      const { name } = table
      await fillTable(cluster, table, counts)
      await cluster.command(`RENAME TABLE ${name} TO ${name}_local`)
      const shards = `remote('127.0.0.1', ${database}.${name}_local)`
      await cluster.command(`CREATE TABLE ${name} AS ${shards}`)
    }
  })
  afterAll(() => cluster?.close())

  test('every table, and the table with its rows, has the filter', async () => {
    const names = (await listTenantTables(cluster)).map(({ name }) => name)
    expect(names.length).toBe(2 * tables.length)
    for (const name of names) {
      const all = await cluster.query<Counted>(byProject(name))
      expect([name, all.length]).toEqual([name, 3])
      const found = await cluster.ofProject(own).query(byProject(name))
      expect([name, found]).toEqual([name, all.filter(({ project_id }) => project_id === own)])
    }
  })

  test.each([
    'SELECT count() AS rows FROM (SELECT * FROM observations ORDER BY trace_id LIMIT 1 BY trace_id)',
    `SELECT count() AS rows FROM observations
     WHERE trace_id GLOBAL IN (SELECT trace_id FROM observations)`,
    `SELECT count() AS rows FROM observations AS one
     GLOBAL LEFT JOIN observations AS next ON next.trace_id = one.trace_id`,
    'SELECT count() AS rows FROM observations FINAL',
  ])('%s', async (sql) => {
    expect(await cluster.ofProject(own).query(sql)).toEqual([{ rows: String(counts[own]) }])
  })
})

describe('a statement that could avoid the filter is refused', () => {
  const ways = [
    'SELECT count() FROM observations SETTINGS additional_table_filters = {}',
    'SELECT count() FROM observations settings readonly = 0',
    'SELECT count() FROM (SELECT * FROM observations SETTINGS additional_table_filters = {})',
    "SELECT '\\'' FROM (SELECT * FROM observations SETTINGS additional_table_filters = {})",
    "SELECT '''' FROM (SELECT * FROM observations SETTINGS additional_table_filters = {})",
    'SELECT 1 AS `\\`` FROM (SELECT * FROM observations SETTINGS additional_table_filters = {})',
    "SELECT 1 -- '\n FROM (SELECT * FROM observations SETTINGS additional_table_filters = {}) -- '",
    "SELECT 1 # '\n FROM (SELECT * FROM observations SETTINGS additional_table_filters = {}) # '",
    "SELECT 1 /* ' */ FROM (SELECT * FROM observations/**/SETTINGS max_threads = 1) -- '",
    "SELECT $$'$$ FROM (SELECT * FROM observations SETTINGS additional_table_filters = {}) --'",
    "SELECT ‘ ' ’ FROM (SELECT * FROM observations SETTINGS max_threads = 1) WHERE '' != ‘ ' ’",
    "SELECT count() FROM merge(currentDatabase(), '^observations$')",
    "SELECT count() FROM `merge`(currentDatabase(), '^observations$')",
    "SELECT count() FROM mergeTreeIndex(currentDatabase(), 'observations')",
    "SELECT count() FROM remote('127.0.0.1', currentDatabase(), 'observations')",
    "SELECT count() FROM clusterAllReplicas('default', currentDatabase(), 'observations')",
    'SELECT sum(rows) FROM system.parts',
    'SELECT sum(rows) FROM `system`.parts',
    'SELECT * FROM information_schema.tables',
    'SET additional_table_filters = {}',
    'INSERT INTO observations SELECT * FROM observations',
    'ALTER TABLE observations DELETE WHERE 1',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
  ]
  test.each(ways)('%s', async (sql) => {
    const one = columnar.ofProject(own)
    const refusals = [one.query(sql), one.read(sql), one.queryParquet(sql), one.queryRowBinary(sql)]
    for (const refusal of await Promise.allSettled(refusals)) {
      expect(refusal).toMatchObject({
        status: 'rejected',
        reason: { name: expect.stringMatching(/^(TypeError|ColumnarError)$/) },
      })
    }
  })

  test('but not one that has these words in text', async () => {
    const sql = 'SELECT \'SETTINGS system.parts merge(x)\' AS `settings`, 1 AS "remote"'
    expect(await columnar.ofProject(own).query(sql)).toEqual([
      { settings: 'SETTINGS system.parts merge(x)', remote: 1 },
    ])
  })

  test('and its own settings do not override the filter', async () => {
    const settings = { additional_table_filters: '{}', readonly: 0 }
    const read = columnar.ofProject(own).query('SELECT count() AS n FROM traces', {}, { settings })
    expect(await read).toEqual([{ n: String(counts[own]) }])
  })
})

describe('inserts of a project', () => {
  test('select only its rows', async () => {
    await columnar.command(
      `CREATE TABLE copied (project_id UUID) ENGINE = MergeTree ORDER BY project_id`,
    )
    await columnar.ofProject(own).insertSelect('INSERT INTO copied SELECT project_id FROM traces')
    expect(await columnar.query<Counted>(byProject('copied'))).toEqual([
      { project_id: own, rows: String(counts[own]) },
    ])
  })

  test('are no other statements', async () => {
    const one = columnar.ofProject(own)
    for (const sql of ['ALTER TABLE traces DELETE WHERE 1', 'DROP TABLE traces', 'SELECT 1']) {
      await expect(one.insertSelect(sql)).rejects.toThrow('expected INSERT INTO')
    }
    const around = 'INSERT INTO traces SELECT * FROM traces SETTINGS additional_table_filters = {}'
    await expect(one.insertSelect(around)).rejects.toThrow('could avoid its filter')
  })
})

test('only a canonical UUID becomes the id of a project', () => {
  const bad = [
    '',
    own.toUpperCase(),
    own.replaceAll('-', ''),
    `${own}\n`,
    ` ${own}`,
    `{${own}}`,
    `${own}' OR 1 --`,
    "') OR 1 --",
  ]
  for (const text of bad) expect(() => parseProjectId(text)).toThrow(TypeError)
  expect(parseProjectId(own)).toBe(own)
})

test('a text that is not a ProjectId is a type error, and so is a plain statement', () => {
  const port: Columnar = columnar
  // @ts-expect-error A string was not parsed.
  expect(() => port.ofProject(`${own}`)).not.toThrow()
  // @ts-expect-error A reason that is not in the list.
  expect(() => port.acrossProjects('it is easier')).not.toThrow()
  // @ts-expect-error The port has no statements without a project.
  expect(port.query).toBeDefined()
  // @ts-expect-error The port has no statements without a project.
  expect(port.command).toBeDefined()
})

test('the primary key finds the rows of a project without a filter in the statement', async () => {
  const explain = 'EXPLAIN indexes = 1 SELECT sum(length(input)) FROM observations'
  const rows = await columnar.ofProject(own).query<{ explain: string }>(explain)
  const plan = rows.map((row) => row.explain).join('\n')
  expect(plan).toMatch(/PrimaryKey\s+Keys:\s+project_id\s+Condition: [^\n]*\(project_id in/)
})
