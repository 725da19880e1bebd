import { inject } from 'vitest'
import {
  type ColumnarOptions,
  type ColumnarServer,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { askBroker } from './broker.ts'
import type { TestDatabase } from './clickhouse-broker.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `global-setup.ts` serves ClickHouse databases. */
    clickhouse_broker: string
  }
}

let ofWorker: Promise<TestDatabase> | undefined

/**
 * Returns the database of this worker, which has the current schema: its test files share it, and
 * each uses projects of its own. A test that changes tables, stops merges or counts the rows of all
 * projects asks for its `own` database, or for an `empty` one, which is only an unused name. All
 * are on one embedded ClickHouse, which the first call of a run starts and the end of the run
 * removes; no clean-up is needed. A `twin` is migrated, and its tables are those of a cluster of two
 * shards (`cluster-front.ts`); with `TEST_CLICKHOUSE=twin` all databases are.
 */
export function testClickHouse(
  kind: 'shared' | 'own' | 'empty' | 'twin' = 'shared',
): Promise<TestDatabase> {
  if (kind !== 'shared') return newDatabase(kind === 'own' ? 'migrated' : kind)
  ofWorker ??= newDatabase('migrated')
  return ofWorker
}

async function newDatabase(kind: 'migrated' | 'empty' | 'twin'): Promise<TestDatabase> {
  return JSON.parse(await askBroker(`${inject('clickhouse_broker')}/${kind}`))
}

/** Opens a migrated database, that of this worker by default. Close it after the tests. */
export async function migratedClickHouse(given?: TestDatabase): Promise<ColumnarServer> {
  return openColumnar(columnarOptions(given ?? (await testClickHouse())))
}

/** Options for a test's database; time-outs are long because machines are shared. */
export function columnarOptions(given: TestDatabase): ColumnarOptions {
  const { url, username, password, database, cluster } = given
  return {
    url,
    username,
    password,
    database,
    cluster,
    request_timeout_ms: 30_000,
    connections_max: 8,
    compression: false,
    logger: createLogger({ role: 'test', level: 'error' }),
  }
}

/** Keeps the parts of a table from merging, or lets them merge again, on every server. */
export function setMerges(
  columnar: ColumnarServer,
  table: string,
  verb: 'START' | 'STOP',
): Promise<void> {
  const { cluster } = columnar
  const rows = cluster === undefined ? table : `ON CLUSTER ${cluster} ${table}_local`
  return columnar.command(`SYSTEM ${verb} MERGES ${rows}`)
}

/** Merges the parts of a table, on every server. */
export function mergeParts(columnar: ColumnarServer, table: string): Promise<void> {
  const { cluster } = columnar
  const rows = cluster === undefined ? table : `${table}_local ON CLUSTER ${cluster}`
  return columnar.command(`OPTIMIZE TABLE ${rows} FINAL`)
}
