import { mkdtemp, rm } from 'node:fs/promises'
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

/** How to connect to a test's database. */
export type TestDatabase = { url: string; username: string; password: string; database: string }

/** ClickHouse starts with the first request, so a run that needs none pays nothing. */
export function startClickHouseBroker(): Promise<Broker> {
  let shared: Promise<SharedServer> | undefined
  let made = 0
  return startBroker(
    async (path) => {
      shared ??= startSharedServer()
      made += 1
      return JSON.stringify(await makeDatabase(shared, `test_${made}`, path === '/migrated'))
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
    const clickhouse = await startEmbeddedClickHouse({ directory, memory_bytes_max, logger })
    const { url, username, password } = clickhouse
    const access = { url, username, password }
    const limits = { request_timeout_ms: 30_000, connections_max: 4, compression: false }
    const columnar = openColumnar({ ...access, database: template, ...limits, logger })
    await migrateColumnar({ columnar, logger })
    const schema = await statementsOf(columnar)
    const close = async () => {
      await columnar.close()
      await clickhouse.stop()
      await remove()
    }
    return { columnar, access, schema, close }
  } catch (error) {
    await remove()
    throw error
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
  migrated: boolean,
): Promise<TestDatabase> {
  const { columnar, access, schema } = await shared
  if (migrated) {
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
