import { setTimeout as wait } from 'node:timers/promises'
import { openHotRowWriter, openHotSource } from '../../src/capabilities/storage/index.ts'
import { hotWindowBackfill, hotWindowTrim } from '../../src/capabilities/store-routing/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import {
  type HotTables,
  type JobTables,
  openRelational,
  type RouteTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { columnarOptions } from './clickhouse.ts'
import { startWorker } from './job-workers.ts'

/**
 * A process that fills and trims hot windows until it is killed. It gets the addresses of
 * PostgreSQL and ClickHouse; each slice takes a moment and prints a line.
 */
const [url = '', clickhouse = ''] = process.argv.slice(2)
const { db } = openRelational<HotTables & JobTables & RouteTables>({
  scope: allTenants,
  url,
  pool_max: 8,
  connect_timeout_ms: 2_000,
  statement_timeout_ms: 10_000,
  logger: createLogger({ role: 'test', level: 'silent' }),
})
const source = openHotSource({ columnar: openColumnar(columnarOptions(JSON.parse(clickhouse))) })
const slowly: typeof source = {
  ...source,
  observations: async function* (slice) {
    process.stdout.write(`${slice.from}\n`)
    await wait(10)
    yield* source.observations(slice)
    await wait(10)
  },
}

startWorker(db, [
  hotWindowBackfill({ db, source: slowly, writer: openHotRowWriter(db), settle_ms: 0 }),
  hotWindowTrim({ db, clock: systemClock }),
])
