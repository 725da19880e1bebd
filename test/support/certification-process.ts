import {
  certificationChores,
  certificationHandler,
  openSigningKey,
  recomputeCertification,
} from '../../src/capabilities/certification/index.ts'
import { startJobs } from '../../src/capabilities/jobs/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  type CertificationTables,
  type DetectionTables,
  type JobTables,
  openRelational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { quickJobs } from './job-workers.ts'

type Tables = CertificationTables & TaskTables & DetectionTables & JobTables

/**
 * A process that does certifications until it is killed. It gets JSON: the URL of PostgreSQL and the
 * secret. With `recompute`, it computes that certification again, prints the result and ends.
 */
const given = JSON.parse(process.argv[2] ?? '{}')
const logger = createLogger({ role: 'test', level: 'silent' })
const { db, close } = openRelational<Tables>({
  scope: allTenants,
  ...{ url: given.postgres, logger, pool_max: 4 },
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 30_000,
})
const clock = systemClock
const deps = {
  ...{ db: db, clock, tasks_max: 50_000 },
  signing: openSigningKey({
    ...{ db, clock, secret_key: given.secret },
    certification_key: undefined,
  }),
  readLedger: async () => ({ accepted: 100, stored: 100, lost: 0, pending: 0 }),
  readFeedback: async () => new Map(),
}

if (given.recompute !== undefined) {
  const row = await db
    .selectFrom('certifications')
    .selectAll()
    .where('id', '=', given.recompute)
    .executeTakeFirstOrThrow()
  const result = await recomputeCertification(db, row, clock.now_ms())
  process.stdout.write(`${JSON.stringify(result)}\n`)
  await close()
} else {
  startJobs({
    ...{ db: db as never, clock, logger, metrics: createMetrics() },
    handlers: [certificationHandler(deps)],
    chores: certificationChores(deps).map((chore) => ({ ...chore, every_ms: 200 })),
    settings: { ...quickJobs, attempts_max: given.attempts_max ?? 1_000 },
  })
  process.stdout.write('started\n')
}
