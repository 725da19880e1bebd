import type { TestProject } from 'vitest/node'
import type { Broker } from './broker.ts'
import { compileCache } from './child-env.ts'
import { startClickHouseBroker } from './clickhouse-broker.ts'
import { startMachineBroker } from './machine-broker.ts'
import { startPostgresBroker } from './postgres-broker.ts'

const brokers: Broker[] = []

/** Before all test files: starts shared servers, or prepares them for their first use. */
export async function setup(project: TestProject): Promise<void> {
  // Workers and their children inherit it.
  process.env['NODE_COMPILE_CACHE'] = compileCache
  const [postgres, clickhouse, machine] = await Promise.all([
    startPostgresBroker(),
    startClickHouseBroker(),
    startMachineBroker(),
  ])
  brokers.push(postgres, clickhouse, machine)
  project.provide('postgres_broker', postgres.url)
  project.provide('clickhouse_broker', clickhouse.url)
  project.provide('machine_broker', machine.url)
}

/** After all test files: stops every shared server and removes its files. */
export async function teardown(): Promise<void> {
  await Promise.all(brokers.map((broker) => broker.close()))
}
