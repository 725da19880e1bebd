import { startEvaluator } from '../../src/capabilities/incidents/worker/open-evaluator.ts'
import { type IncidentTables, openRelational } from '../../src/platform/relational/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { edgesOf } from './edge-rules.ts'
import { FakeSignals } from './fake-signals.ts'
import { quietLogger as logger } from './incident-bench.ts'

/**
 * A process that evaluates rules until it is killed. It gets the address of the database; the values
 * of a rule depend on the slot only, so that each process measures the same.
 */
const { db } = openRelational<IncidentTables>({
  scope: allTenants,
  ...{ url: process.argv[2] ?? '', logger },
  pool_max: 4,
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 10_000,
})

const signals = new FakeSignals((rule, end_ms) => {
  const { from_ms, to_ms } = edgesOf(rule)
  return end_ms >= from_ms && end_ms < to_ms ? 9 : 0
})

startEvaluator({
  ...{ db, signals, logger, metrics: createMetrics(), ledger: async () => [] },
  settings: { lease_ms: 1_500, claim_ms: 200, poll_ms: 50, muting_ms: 200, events_ms: 500 },
})
process.stdout.write('started\n')
