import { createEnqueuer, type Enqueuer } from '../capabilities/edge/enqueue/index.ts'
import { createLedgerReporter, type LedgerReporter } from '../capabilities/ledger/index.ts'
import {
  applyCapture,
  type CapturePolicies,
  createCapturePolicies,
} from '../capabilities/records/capture/index.ts'
import { newId } from '../kernel/ids.ts'
import type { Settings } from '../platform/config/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { CaptureTables, Kysely } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'

/** Parts that all ingest paths share: the enqueuer, the ledger reporter, the capture policies. */
export type Intake = {
  enqueuer: Enqueuer
  reporter: LedgerReporter
  policies: CapturePolicies
  /** Applies the capture policy of the project to a request's records; see `applyCapture`. */
  capture(
    records: Parameters<typeof applyCapture>[1],
    project_id: string,
    item_kinds: Parameters<typeof applyCapture>[2],
  ): ReturnType<typeof applyCapture> | Promise<ReturnType<typeof applyCapture>>
}

/** Opens the shared parts of the ingest paths. Flushed when the role ends, the ledger last. */
export function openIntake(
  { metrics, clock, logger, parts }: RoleContext,
  config: Settings<'recording'>,
  { queue, db }: { queue: Pick<Queue, 'publish' | 'message_bytes_max'>; db: Kysely<CaptureTables> },
): Intake {
  const publish: Queue['publish'] = (message) => queue.publish(message)
  const reporter = createLedgerReporter({ publish, newId, clock, metrics, logger })
  parts.defer(() => reporter.close())
  const enqueuer = createEnqueuer({
    publish,
    get message_bytes_max() {
      return queue.message_bytes_max
    },
    inflight_bytes_max: config.record_inflight_bytes_max,
    onAccepted: (entries) => reporter.accepted(entries),
    clock,
    newId,
    metrics,
    logger,
  })
  parts.defer(() => enqueuer.close())
  const policies = createCapturePolicies({ db, clock, metrics })
  return {
    enqueuer,
    reporter,
    policies,
    capture: (records, project_id, item_kinds) => {
      const policy = policies.policyOf(project_id)
      return policy instanceof Promise
        ? policy.then((known) => applyCapture(known, records, item_kinds))
        : applyCapture(policy, records, item_kinds)
    },
  }
}
