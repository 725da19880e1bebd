import type { TestProject } from 'vitest/node'
import { compileCache } from './child-env.ts'
import { type ClickHouseBroker, startClickHouseBroker } from './clickhouse-broker.ts'
import { type PostgresBroker, startPostgresBroker } from './postgres-broker.ts'

let broker: PostgresBroker | undefined
let clickhouse: ClickHouseBroker | undefined

/** Before all test files: starts shared servers, or prepares them for their first use. */
export async function setup(project: TestProject): Promise<void> {
  // Workers and their children inherit it.
  process.env['NODE_COMPILE_CACHE'] = compileCache
  broker = await startPostgresBroker()
  project.provide('postgres_broker', broker.url)
  clickhouse = await startClickHouseBroker()
  project.provide('clickhouse_broker', clickhouse.url)
}

/** After all test files: stops every shared server and removes its files. */
export async function teardown(): Promise<void> {
  await Promise.all([broker?.close(), clickhouse?.close()])
}
