import { startJobs } from '../../src/capabilities/jobs/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import type { Stores } from '../../src/roles/stores.ts'
import { openVerification } from '../../src/roles/verification.ts'
import { allTenants } from './all-tenants.ts'
import { columnarOptions } from './clickhouse.ts'
import { quickJobs } from './job-workers.ts'

/**
 * A process that verifies answers, as the worker wires it, until it is killed. It gets JSON: the
 * addresses of the stores, the URL of a judge, and the attempts at a job.
 */
const given = JSON.parse(process.argv[2] ?? '{}')
const ports = {
  clock: systemClock,
  logger: createLogger({ role: 'test', level: 'silent' }),
  metrics: createMetrics(),
}
const { db } = openRelational({
  scope: allTenants,
  ...{ url: given.postgres, logger: ports.logger },
  pool_max: 8,
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 30_000,
})
const columnar = openColumnar(columnarOptions(given.clickhouse))
const judge = new URL(given.judge)
const { handlers, chores } = openVerification(
  { ...ports, parts: new AsyncDisposableStack() },
  {
    outbound_allowed: `127.0.0.0/8:${judge.port}`,
    verification_budget_cents_per_day: 1_000,
    judge_budget_cents_per_day: 0,
    verification_search_url: undefined,
    verification_search_cents_per_thousand_queries: 0,
    verification_models: [
      {
        ...{ name: 'slow', type: 'openai', model: 'slow-1', url: judge.href, use: ['judge'] },
        ...{ cents_per_million_input: 100, cents_per_million_output: 100, timeout_ms: 20_000 },
      },
    ],
  },
  {
    db: db as unknown as Stores['db'],
    store: openClickHouseStore({ columnar }),
    records: openClickHouseRecordStore({ columnar }),
    onFindings: async () => () => undefined,
  },
)
const settings = { ...quickJobs, lease_ms: 1_000, attempts_max: given.attempts_max }
startJobs({ ...ports, db: db as never, handlers, chores, settings })
process.stdout.write('started\n')
