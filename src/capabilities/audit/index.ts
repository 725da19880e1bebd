import type { Route } from '../../platform/http/index.ts'
import { runInInstallation } from '../../platform/tenancy/index.ts'
import { getCheckpoints } from './api/checkpoints.ts'
import type { AuditDeps } from './api/contract.ts'
import { eraseDetails } from './api/erasures.ts'
import { getEvents } from './api/events.ts'
import { exportRecords } from './api/export.ts'
import { getKeys } from './api/keys.ts'
import { getReads } from './api/reads.ts'
import { getSetAside } from './api/set-aside-records.ts'
import { verifyChain } from './api/verify.ts'

export type { AuditDeps } from './api/contract.ts'
export { type AuditChoreOptions, auditChores } from './audit-chores.ts'
export { openCheckpoint, type SignedCheckpoint } from './chain/checkpoint.ts'
export { type ExportedRecord, readExportedRecord } from './chain/exported-record.ts'
export { segmentFault } from './chain/segment.ts'
export { type ChainFault, ChainVerifier } from './chain/verify-chain.ts'
export type { CheckpointSource } from './checkpoints/outside-positions.ts'
export type { CheckpointSink } from './checkpoints/publish-checkpoints.ts'
export { openBlobSink } from './checkpoints/sink-blobs.ts'
export { openAuditErasure } from './erase-person.ts'
export { openAuditTrail } from './open-trail.ts'
export { journalGauge, openReadJournal, type ReadJournal } from './reads/read-journal.ts'
export { otlpReceiver } from './stream/otlp-receiver.ts'
export type { StreamReceiver } from './stream/receiver.ts'
export { defaultStreamLimits, type StreamLimits } from './stream/send-batch.ts'
export { streamChores } from './stream/stream-chore.ts'
export { webhookReceiver } from './stream/webhook-receiver.ts'
export { openRefusalSpool, refusalSpoolGauge } from './trail/refusal-spool.ts'

/** The routes under `/api/v2/audit`. */
export function auditRoutes(deps: AuditDeps): Route[] {
  return [
    getEvents,
    getReads,
    exportRecords,
    verifyChain,
    getCheckpoints,
    getKeys,
    getSetAside,
    eraseDetails,
  ].map((route) => inScopeOfChain(route(deps)))
}

/** Lets a call for the chain of the installation read it. The handler checks the permission first. */
function inScopeOfChain(route: Route): Route {
  return {
    ...route,
    run: (request) => {
      const { chain } = request.query as { chain?: unknown }
      if (chain !== 'installation') return route.run(request)
      return runInInstallation('the chain of the installation', () => route.run(request))
    },
  }
}
