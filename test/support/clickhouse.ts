import { inject } from 'vitest'
import {
  type Columnar,
  type ColumnarOptions,
  migrateColumnar,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import type { TestDatabase } from './clickhouse-broker.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `global-setup.ts` hands out ClickHouse databases. */
    clickhouse_broker: string
  }
}

/**
 * A database name of one's own on the embedded ClickHouse that all test files share; the first
 * call of a run starts it and the end of the run removes it. The database is made by a migration.
 */
export async function testClickHouse(): Promise<TestDatabase> {
  const answer = await fetch(inject('clickhouse_broker'), { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`no ClickHouse for the test: ${text}`)
  return JSON.parse(text)
}

/** Opens such a database, migrated. Close it after the tests. */
export async function migratedClickHouse(given?: TestDatabase): Promise<Columnar> {
  const columnar = openColumnar(columnarOptions(given ?? (await testClickHouse())))
  await migrateColumnar({ columnar, logger: createLogger({ role: 'test', level: 'error' }) })
  return columnar
}

/** Options to open a test's database with; time-outs are long, since machines are shared. */
export function columnarOptions(given: TestDatabase): ColumnarOptions {
  const { url, username, password, database } = given
  return {
    url,
    username,
    password,
    database,
    request_timeout_ms: 30_000,
    connections_max: 8,
    compression: false,
    logger: createLogger({ role: 'test', level: 'error' }),
  }
}
