import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ColumnarServer,
  migrateColumnar,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { type Broker, startBroker } from './broker.ts'
import { openClusterFront, twinCluster, twinConfig } from './cluster-front.ts'

/** How to connect to a test's database. */
export type TestDatabase = {
  url: string
  username: string
  password: string
  database: string
  /** The cluster of its tables, and the address without the front that makes it one. */
  cluster?: string
  server_url?: string
}

/** ClickHouse starts with the first request, so a run that needs none pays nothing. */
export function startClickHouseBroker(): Promise<Broker> {
  let shared: Promise<SharedServer> | undefined
  let made = 0
  return startBroker(
    async (path) => {
      made += 1
      const name = `test_${made}`
      const real = realCluster(name)
      if (real !== undefined) return JSON.stringify(await migrated(real, !path.endsWith('empty')))
      shared ??= startSharedServer()
      const isTwin = path.startsWith('/twin') || process.env['TEST_CLICKHOUSE'] === 'twin'
      const database = isTwin
        ? await makeTwin(await shared, name, !path.endsWith('empty'))
        : await makeDatabase(shared, name, path === '/migrated')
      return JSON.stringify(database)
    },
    async () => {
      const started = await shared?.catch(() => undefined)
      await started?.close()
    },
  )
}

type SharedServer = {
  columnar: ColumnarServer
  access: Omit<TestDatabase, 'database'>
  /** Opens the front that makes the server a cluster of two shards. */
  front: () => Promise<string>
  /** Statements that create the tables of the current schema in the database `template`. */
  schema: readonly string[]
  close: () => Promise<void>
}

const template = 'template'
/** The databases of all test files are on one server, with their merges. */
const memory_bytes_max = 6 * 2 ** 30

async function startSharedServer(): Promise<SharedServer> {
  const logger = createLogger({ role: 'test-clickhouse', level: 'error' })
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-test-clickhouse-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const config_file = join(directory, 'clusters.xml')
    await writeFile(config_file, twinConfig)
    const about = { directory, memory_bytes_max, config_file, logger }
    const clickhouse = await startEmbeddedClickHouse(about)
    const { url, username, password } = clickhouse
    const access = { url, username, password }
    const limits = { request_timeout_ms: 30_000, connections_max: 4, compression: false }
    const columnar = openColumnar({ ...access, database: template, ...limits, logger })
    await migrateColumnar({ columnar, logger })
    const schema = await statementsOf(columnar)
    let opened: ReturnType<typeof openClusterFront> | undefined
    const front = async () => {
      opened ??= openClusterFront(url)
      return (await opened).url
    }
    const close = async () => {
      await (await opened)?.close()
      await columnar.close()
      await clickhouse.stop()
      await remove()
    }
    return { columnar, access, front, schema, close }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Creates a database on the twin shards. */
async function makeTwin(
  { access, front }: SharedServer,
  database: string,
  isMigrated: boolean,
): Promise<TestDatabase> {
  const url = await front()
  const twin = { ...access, url, server_url: access.url, database, cluster: twinCluster }
  return migrated(twin, isMigrated)
}

/**
 * Returns a database of the cluster that the environment names: `TEST_CLICKHOUSE_CLUSTER` at
 * `TEST_CLICKHOUSE_URL`. The databases of a run are named `test_<number>_<process>`, and stay.
 */
function realCluster(name: string): TestDatabase | undefined {
  const { env } = process
  const [url, cluster] = [env['TEST_CLICKHOUSE_URL'], env['TEST_CLICKHOUSE_CLUSTER']]
  if (url === undefined || cluster === undefined) return undefined
  const username = env['TEST_CLICKHOUSE_USERNAME'] ?? 'default'
  const password = env['TEST_CLICKHOUSE_PASSWORD'] ?? ''
  return { url, username, password, database: `${name}_${process.pid}`, cluster }
}

/** Creates the database by the migrations of a cluster, if it is to have tables. */
async function migrated(given: TestDatabase, isMigrated: boolean): Promise<TestDatabase> {
  if (!isMigrated) return given
  const logger = createLogger({ role: 'test-clickhouse', level: 'error' })
  const limits = { request_timeout_ms: 30_000, connections_max: 4, compression: false }
  const columnar = openColumnar({ ...given, ...limits, logger })
  try {
    await migrateColumnar({ columnar, ...(given.cluster && { cluster: given.cluster }), logger })
    return given
  } finally {
    await columnar.close()
  }
}

/** Reads the statement that creates each table; views come last because they need the tables. */
async function statementsOf(columnar: ColumnarServer): Promise<string[]> {
  const tables = await columnar.query<{ create_table_query: string }>(
    `SELECT create_table_query FROM system.tables WHERE database = {database:String}
     ORDER BY engine LIKE '%View', name`,
    { database: template },
  )
  return tables.map(({ create_table_query }) => create_table_query)
}

/**
 * Creates a migrated database from the template's statements, in a fifth of the time of migrations.
 */
async function makeDatabase(
  shared: Promise<SharedServer>,
  database: string,
  isMigrated: boolean,
): Promise<TestDatabase> {
  const { columnar, access, schema } = await shared
  if (isMigrated) {
    await columnar.command(`CREATE DATABASE ${database}`)
    const inTemplate = new RegExp(`\\b${template}\\.`, 'g')
    for (const statement of schema) {
      await columnar.command(statement.replace(inTemplate, `${database}.`))
    }
    await columnar.command(
      `INSERT INTO ${database}.schema_migrations SELECT * FROM schema_migrations`,
    )
  }
  return { ...access, database }
}
