import { type Access, accessRoutes, isInstallationAdmin } from '../capabilities/access/index.ts'
import { apiReferencePages } from '../capabilities/api-reference/index.ts'
import { auditRoutes, type CheckpointSource } from '../capabilities/audit/index.ts'
import { certificationRoutes, releasePolicyRoutes } from '../capabilities/certification/index.ts'
import { consoleRoutes } from '../capabilities/console/index.ts'
import { conversationRoutes, conversationTreeRoutes } from '../capabilities/conversations/index.ts'
import { correlationRoutes } from '../capabilities/correlations/index.ts'
import { detectionRoutes, findingsOfTasks } from '../capabilities/detection/index.ts'
import {
  type IngestRequestSettings,
  ingestRequestRoutes,
} from '../capabilities/edge/batches/index.ts'
import { mappingRoutes } from '../capabilities/edge/otlp/index.ts'
import { type EventHub, eventRoutes } from '../capabilities/events/index.ts'
import { type FeedbackDeps, feedbackRoutes, insightRoutes } from '../capabilities/feedback/index.ts'
import {
  type ChannelRoutesDeps,
  channelRoutes,
  type IncidentRoutesDeps,
  incidentLinkRoutes,
  incidentRoutes,
} from '../capabilities/incidents/index.ts'
import { deadLetterRoutes } from '../capabilities/ledger/dead-letters/index.ts'
import { ledgerRoutes } from '../capabilities/ledger/index.ts'
import { type ArchiveDeps, archiveRoutes } from '../capabilities/lifecycle/archive/index.ts'
import { retentionRoutes } from '../capabilities/lifecycle/retention/index.ts'
import { linkPages } from '../capabilities/link-pages/index.ts'
import { mcpRoutes } from '../capabilities/mcp/index.ts'
import { type OnboardingRoutesDeps, onboardingRoutes } from '../capabilities/onboarding/index.ts'
import { queryRoutes, type RunDeps } from '../capabilities/query/index.ts'
import { captureRoutes } from '../capabilities/records/capture/index.ts'
import { createPricing } from '../capabilities/records/pricing/index.ts'
import { schemaRoutes } from '../capabilities/records/schema/index.ts'
import { savedQueryRoutes } from '../capabilities/saved-queries/index.ts'
import {
  type StoreRoutingRoutesDeps,
  storeRoutingRoutes,
} from '../capabilities/store-routing/index.ts'
import { type TaskDeps, taskRoutes, taskTreeRoutes } from '../capabilities/tasks/index.ts'
import { traceRoutes } from '../capabilities/traces/index.ts'
import { readVerifiedClaims } from '../capabilities/verification/index.ts'
import type { Clock } from '../kernel/time.ts'
import { version } from '../platform/config/index.ts'
import type { Route } from '../platform/http/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { Intake } from './intake.ts'
import type { Stores } from './stores.ts'
import { type VerificationApi, verificationApiRoutes } from './verification.ts'

/** Builds the routes of the product APIs. Dependencies are only used when a route is called. */
export function controlRoutes(access: Access, parts: TaskDeps & ObservabilityParts): Route[] {
  return [
    ...accessRoutes(access),
    ...linkPages(),
    ...consoleRoutes(),
    ...apiReferencePages(),
    ...mcpRoutes({ public_url: parts.channels.public_url, version }),
    ...auditRoutes({
      db: parts.db,
      clock: parts.clock,
      sources: parts.sources,
      isInstallationAdmin: (user_id) => isInstallationAdmin(parts.db, user_id),
    }),
    ...taskRoutes({
      ...parts,
      readVerifications: (asked) => readVerifiedClaims(parts.verification.runs.db, asked),
    }),
    ...taskTreeRoutes(parts),
    ...conversationRoutes(parts),
    ...conversationTreeRoutes(parts),
    ...detectionRoutes(parts),
    ...eventRoutes(parts),
    ...verificationApiRoutes(parts.verification),
    ...feedbackRoutes(parts.feedback),
    ...insightRoutes(parts),
    ...releasePolicyRoutes(parts),
    ...certificationRoutes({ ...parts, wait_ms_max: maxCertificationWaitMs }),
    ...onboardingRoutes(parts.onboarding),
    ...observabilityRoutes(parts),
  ]
}

/** Requests with `wait=true` are answered within the usual time-outs of clients and load balancers. */
const maxCertificationWaitMs = 60_000

/** Dependencies of the routes under `/api/v2/observability`. */
export type ObservabilityParts = Pick<
  Stores,
  'db' | 'store' | 'records' | 'ledger' | 'retention'
> & {
  intake: Intake
  /** The queue, for its statistics and dead letters. */
  queue: Pick<Queue, 'stats' | 'oldestAgeMs' | 'deadLetters' | 'replayDeadLetter'>
  /** Streams of events. */
  events: Pick<EventHub, 'open'>
  clock: Clock
  requests: IngestRequestSettings
  queries: RunDeps
  /** Maximum saved queries of a project. */
  saved_queries_max: number
  measureRange: IncidentRoutesDeps['measureRange']
  examples: IncidentRoutesDeps['examples']
  routing: StoreRoutingRoutesDeps
  archives: ArchiveDeps
  channels: ChannelRoutesDeps
  verification: VerificationApi
  feedback: FeedbackDeps
  /** Sinks of audit checkpoints that can be read back. */
  sources: readonly CheckpointSource[]
  onboarding: OnboardingRoutesDeps
  /** Hour (UTC) at which the daily retention runs start. */
  retention_hour: number
}

/** Builds the routes under `/api/v2/observability`. */
function observabilityRoutes(parts: ObservabilityParts): Route[] {
  const { db, store, records, ledger, intake, queue, clock, requests } = parts
  const enqueue: Intake['enqueuer']['enqueue'] = (...ports) => intake.enqueuer.enqueue(...ports)
  return [
    ...schemaRoutes(),
    ...ingestRequestRoutes({
      db,
      enqueuer: intake.enqueuer,
      pricing: createPricing(),
      capture: intake.capture,
      receipts: ledger,
      settings: requests,
    }),
    ...mappingRoutes({ store }),
    ...traceRoutes({ records, queries: parts.queries, findings: (of) => findingsOfTasks(db, of) }),
    ...queryRoutes(parts.queries),
    ...savedQueryRoutes(parts),
    ...channelRoutes(parts.channels),
    ...incidentRoutes(parts),
    ...incidentLinkRoutes({ db, clock, secret_key: parts.channels.secret_key }),
    ...storeRoutingRoutes(parts.routing),
    ...correlationRoutes({ records, ledger, enqueue, clock, capture: intake.capture }),
    ...ledgerRoutes({ ledger, queue, clock }),
    ...deadLetterRoutes({ queue }),
    ...retentionRoutes({
      db,
      clock,
      retention: parts.retention,
      hour: parts.retention_hour,
      archives_configured: parts.archives.is_configured,
    }),
    ...archiveRoutes(parts.archives),
    ...captureRoutes({ db, clock, policies: intake.policies }),
  ]
}
