import { setTimeout as wait } from 'node:timers/promises'
import { retentionHandler } from '../../src/capabilities/lifecycle/retention/index.ts'
import { openClickHouseRetentionStore } from '../../src/capabilities/storage/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import {
  type JobTables,
  openRelational,
  type RetentionTables,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { columnarOptions } from './clickhouse.ts'
import { startWorker } from './job-workers.ts'

/**
 * A process that does retention runs until it is killed. It gets the address of PostgreSQL and a
 * ClickHouse database as JSON; it prints a line before and after rows of a slice are deleted, and
 * pauses after each line.
 */
const [url = '', clickhouse = '{}'] = process.argv.slice(2)
const logger = createLogger({ role: 'test', level: 'silent' })
const { db } = openRelational<JobTables & RetentionTables & TaskTables>({
  scope: allTenants,
  ...{ url, logger },
  pool_max: 4,
  connect_timeout_ms: 2_000,
  statement_timeout_ms: 10_000,
})
const store = openClickHouseRetentionStore({
  columnar: openColumnar(columnarOptions(JSON.parse(clickhouse))),
})
const slow: typeof store = {
  ...store,
  deleteRows: async (slice) => {
    process.stdout.write('begin\n')
    await store.deleteRows(slice)
    process.stdout.write('end\n')
    await wait(20)
  },
}

startWorker(db, [
  retentionHandler({ db, store: slow, clock: systemClock, logger, metrics: createMetrics() }),
])
