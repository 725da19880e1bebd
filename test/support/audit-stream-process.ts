import { startJobs } from '../../src/capabilities/jobs/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { openAuditStreams } from '../../src/roles/audit-streams.ts'
import type { Stores } from '../../src/roles/stores.ts'
import { allTenants } from './all-tenants.ts'
import { streamConfig, streamLimits } from './audit-streams.ts'
import { quickJobs } from './job-workers.ts'

/**
 * A process that streams audit records, as the worker wires it, until it is killed. It gets JSON:
 * the address of PostgreSQL, and the settings and limits of the streams.
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
  ...{ pool_max: 4, connect_timeout_ms: 5_000, statement_timeout_ms: 30_000 },
})
const { chores } = openAuditStreams(ports, streamConfig(given.settings), {
  db: db as unknown as Stores['db'],
  limits: { ...streamLimits, ...given.limits },
})
const quick = chores.map((chore) => ({ ...chore, every_ms: 20 }))
startJobs({ ...ports, db: db as never, handlers: [], chores: quick, settings: quickJobs })
process.stdout.write('started\n')
