import type { IncidentTables, Kysely, TaskTables } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import { forgetAfterMs } from '../rules/rule-faults.ts'
import { matchFindings, type StoredFindings } from './match-findings.ts'
import { databaseTime } from './open-evaluator.ts'

/** Evaluates event rules in a transaction; returns what follows the commit. */
export type FindingsMatcher = (
  trx: Kysely<IncidentTables & TaskTables>,
  stored: StoredFindings,
) => Promise<() => void>

/** The ports of a matcher. */
export type MatcherOptions = {
  logger: Logger
  metrics: Metrics
  /** Called after messages were stored. */
  wakeSender: () => void
}

/** Opens the evaluation of event rules on findings; call once per process. */
export function openFindingsMatcher(options: MatcherOptions): FindingsMatcher {
  const { logger, metrics, wakeSender } = options
  const failures = metrics.counter({
    name: 'looptrace_incident_event_failures_total',
    help: 'Evaluations of an event rule on findings that failed; the findings are stored.',
  })
  return async (trx, stored) => {
    if (stored.findings.length === 0) return () => undefined
    const now_ms = await databaseTime(trx)
    const saved = await matchFindings(trx, stored, {
      // A group that matches now is not forgotten.
      ...{ now_ms, logger, forget_after_ms: forgetAfterMs },
      onFailure: () => failures.inc(),
    })
    return () => {
      if (saved.messages > 0) wakeSender()
    }
  }
}
