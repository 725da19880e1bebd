import { correlationRoutes } from '../capabilities/correlations/index.ts'
import {
  type IngestRequestSettings,
  ingestRequestRoutes,
} from '../capabilities/edge/batches/index.ts'
import { mappingRoutes } from '../capabilities/edge/otlp/index.ts'
import { deadLetterRoutes } from '../capabilities/ledger/dead-letters/index.ts'
import { ledgerRoutes } from '../capabilities/ledger/index.ts'
import { type ArchiveDeps, archiveRoutes } from '../capabilities/lifecycle/archive/index.ts'
import { retentionRoutes } from '../capabilities/lifecycle/retention/index.ts'
import { queryRoutes, type RunDeps } from '../capabilities/query/index.ts'
import { captureRoutes } from '../capabilities/records/capture/index.ts'
import { createPricing } from '../capabilities/records/pricing/index.ts'
import { schemaRoutes } from '../capabilities/records/schema/index.ts'
import { savedQueryRoutes } from '../capabilities/saved-queries/index.ts'
import {
  type StoreRoutingRoutesDeps,
  storeRoutingRoutes,
} from '../capabilities/store-routing/index.ts'
import { traceRoutes } from '../capabilities/traces/index.ts'
import type { Clock } from '../kernel/time.ts'
import type { Route } from '../platform/http/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { Intake } from './intake.ts'
import type { Stores } from './stores.ts'

/** What the routes under `/api/v2/observability` work on. */
export type ObservabilityParts = Pick<
  Stores,
  'db' | 'store' | 'records' | 'ledger' | 'retention'
> & {
  intake: Intake
  /** The queue itself, to ask what waits in it and what was set apart. */
  queue: Pick<Queue, 'stats' | 'deadLetters' | 'replayDeadLetter'>
  clock: Clock
  requests: IngestRequestSettings
  queries: RunDeps
  /** Saved queries of a project, at most. */
  saved_queries_max: number
  routing: StoreRoutingRoutesDeps
  archives: ArchiveDeps
  /** Hour of the day, UTC, at which the daily runs of retention begin. */
  retention_hour: number
}

/** The routes under `/api/v2/observability`; nothing is read before one is called. */
export function observabilityRoutes(parts: ObservabilityParts): Route[] {
  const { db, store, records, ledger, intake, queue, clock, requests } = parts
  const enqueue: Intake['enqueuer']['enqueue'] = (...about) => intake.enqueuer.enqueue(...about)
  return [
    ...schemaRoutes(),
    ...ingestRequestRoutes({
      ...{ db, clock },
      enqueuer: intake.enqueuer,
      pricing: createPricing(),
      capture: intake.capture,
      receipts: ledger,
      settings: requests,
    }),
    ...mappingRoutes({ store }),
    ...traceRoutes({ records, queries: parts.queries }),
    ...queryRoutes(parts.queries),
    ...savedQueryRoutes(parts),
    ...storeRoutingRoutes(parts.routing),
    ...correlationRoutes({ records, ledger, enqueue, clock, capture: intake.capture }),
    ...ledgerRoutes({ ledger, queue, clock }),
    ...deadLetterRoutes({ queue }),
    ...retentionRoutes({
      ...{ db, clock, retention: parts.retention, hour: parts.retention_hour },
      archives_configured: parts.archives.is_configured,
    }),
    ...archiveRoutes(parts.archives),
    ...captureRoutes({ db, clock, policies: intake.policies }),
  ]
}
