import { startDetection } from '../../src/capabilities/detection/index.ts'
import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import {
  type DetectionTables,
  openRelational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { columnarOptions } from './clickhouse.ts'

/**
 * A process that analyses tasks until it is killed. It gets the address of PostgreSQL and a
 * ClickHouse database as JSON, with the limits of its breaker, and prints a line whenever it reads the
 * content of tasks.
 */
const [url = '', clickhouse = '{}'] = process.argv.slice(2)
const given = JSON.parse(clickhouse)
const logger = createLogger({ role: 'test', level: 'silent' })
const { db } = openRelational<TaskTables & DetectionTables>({
  scope: allTenants,
  ...{ url, logger },
  pool_max: 4,
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 30_000,
})
const store = openClickHouseStore({
  columnar: openColumnar({ ...columnarOptions(given), breaker: given.breaker }),
})

startDetection({
  ...{ db, logger, clock: systemClock, metrics: createMetrics() },
  store: {
    ...store,
    observationsAt: async (...asked) => {
      process.stdout.write('reads\n')
      return store.observationsAt(...asked)
    },
  },
  settings: { poll_ms: 10, rest_ms: 0, rest_factor: 0, claim_tasks_max: 2, lease_ms: 2_000 },
})
