import type { OnFindings } from '../capabilities/detection/index.ts'
import {
  openFindingsMatcher,
  openSignals,
  startEvaluator,
} from '../capabilities/incidents/index.ts'
import { lostBefore } from '../capabilities/ledger/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { IncidentTables, Wakes } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Wakes the sender of notifications after messages were stored. */
type WakeSender = { wakeSender: () => void }

/** Wakes no sender: senders in other processes poll for messages. */
export const noSender: WakeSender = { wakeSender: () => undefined }

/**
 * Opens the evaluation of event rules, in the transactions in which a process stores findings.
 */
export function openFindingRules(
  { logger, metrics }: Pick<RoleContext, 'logger' | 'metrics'>,
  { wakeSender }: WakeSender,
): OnFindings {
  const match = openFindingsMatcher({ logger, metrics, wakeSender })
  return (trx, stored) =>
    match(trx.withTables<Pick<IncidentTables, keyof IncidentTables>>(), stored)
}

/** Starts the evaluator of incident rules, until the role ends. */
export function openEvaluator(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  { db, relational, columnar, ledger, queue, wakeSender, wakes }: EvaluatorStores & WakeSender,
): void {
  const signals = openSignals({
    relational,
    columnar,
    ledger,
    queue,
    clock: context.clock,
    logger: context.logger,
  })
  const evaluator = startEvaluator({
    ...context,
    db,
    signals,
    wakeSender,
    ...(wakes && { wakes }),
    ledger: async (project_id, from_ms, now_ms) => {
      const lost_before_ms = await lostBefore(queue, now_ms)
      return ledger.sums(project_id, { from_ms, to_ms: now_ms, lost_before_ms })
    },
  })
  context.parts.defer(() => evaluator.stop())
}

type EvaluatorStores = Pick<Stores, 'db' | 'relational' | 'columnar' | 'ledger'> & {
  queue: Pick<Queue, 'stats' | 'oldestAgeMs'>
  wakes?: Wakes
}
