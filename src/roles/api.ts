import {
  type Access,
  type AccessOptions,
  authorizer,
  IssuerMisconfigured,
  openAccess,
} from '../capabilities/access/index.ts'
import { consolePage } from '../capabilities/console/index.ts'
import type { ContextJudge, OnFindings } from '../capabilities/detection/index.ts'
import { deleteExpiredIngestRequests } from '../capabilities/edge/batches/index.ts'
import {
  createBrowserLimits,
  createNetworkTags,
  defaultFeedbackLimits,
} from '../capabilities/feedback/index.ts'
import { openSignals } from '../capabilities/incidents/index.ts'
import { deleteOldEvents, deleteOldScenarios } from '../capabilities/onboarding/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import type { Route } from '../platform/http/index.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import { deleteExpiredIdempotencyKeys, openIdempotencyStore } from '../platform/relational/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import { openServedTrail, openSources } from './audit.ts'
import { controlRoutes, type ObservabilityParts } from './control-routes.ts'
import { openJudge } from './detection.ts'
import { openAnnouncer, openEventHub } from './events.ts'
import { noSender, openFindingRules } from './incidents.ts'
import { type Intake, openIntake } from './intake.ts'
import { archiveDeps } from './jobs.ts'
import { listen } from './listen.ts'
import { openConfiguredMailer } from './notifications.ts'
import { openOnboarding } from './onboarding.ts'
import { openIssuerOutbound, openReceivers } from './outbound.ts'
import { openPostgres } from './postgres.ts'
import { openQueryRuns, openStoreRouting } from './queries.ts'
import { openClusterQueue, withFileSpool } from './queues.ts'
import { type RoleContext, type Running, run } from './running.ts'
import { forPeople, openStores, type Stores } from './stores.ts'
import { openVerificationApi } from './verification.ts'

/** Starts role `api`, the control plane: the product APIs. */
export function startApi(config: RoleConfig<'api'>, stop: AbortSignal): Promise<Running> {
  return run('api', config, stop, async (context) => {
    const stores = openStores(context, config)
    const queue = await openClusterQueue(context, config)
    const spooled = await withFileSpool(context, config, { queue, db: stores.db, role: 'api' })
    const intake = openIntake(context, config, { queue: spooled, db: stores.db })
    const { broadcast } = queue
    openAnnouncer(context, { ...stores, broadcast })
    const events = openEventHub(context, broadcast)
    const built = { ...forPeople(stores), queue, intake, events, publisher: spooled }
    const { access, routes } = runInInstallation(controlWork, () =>
      openControl(context, config, {
        ...built,
        mailer: openConfiguredMailer(context, config),
        judge: openJudge(context, config, stores),
        onFindings: openFindingRules(context, noSender),
      }),
    )
    const trail = await runInInstallation(controlWork, () =>
      openServedTrail(context, config, { db: stores.db, role: 'api' }),
    )
    await listen(context, config, {
      routes,
      events,
      console: consolePage(),
      authorize: authorizer(access),
      audit: trail,
      idempotency: openIdempotencyStore(stores.db),
    })
  })
}

/** Reason for the installation scope of periodic work in the control plane. */
export const controlWork = 'expired records, keys, ledger hours and audited reads of all projects'

const housekeepingEveryMs = 60 * 60 * 1000
const ledgerHoursEveryMs = 10 * 60 * 1000
const maxLedgerHours = 1000

/** Opens the control plane: sign-in and the routes of the product APIs. */
export function openControl(
  context: RoleContext,
  config: RoleConfig<'api'>,
  built: Stores & {
    intake: Intake
    events: ObservabilityParts['events']
    /** Publishes records, and spools them while the queue is unavailable. */
    publisher: Pick<Queue, 'publish' | 'message_bytes_max'>
    queue: ObservabilityParts['queue']
    judge: ContextJudge | undefined
    onFindings: OnFindings
    mailer: Mailer
  },
): { access: Access; routes: Route[] } {
  const { logger, clock, parts } = context
  const { secret_key } = config
  const { db, mailer } = built
  if (secret_key === undefined) {
    throw new ConfigError('LOOPTRACE_SECRET_KEY: missing, expected at least 32 characters')
  }
  const access = openConfiguredAccess({ ...config, secret_key, db, clock, logger, mailer }, config)
  parts.defer(() => access.close())
  const housekeeping = setInterval(() => {
    const deleted = [
      deleteExpiredIdempotencyKeys(db),
      deleteExpiredIngestRequests(db),
      deleteOldEvents(db, clock.now_ms()),
      deleteOldScenarios(db, clock.now_ms()),
    ]
    Promise.all(deleted).catch((error: unknown) => {
      logger.warn({ err: error }, 'deleting expired records failed; retrying later')
    })
  }, housekeepingEveryMs).unref()
  parts.defer(() => clearInterval(housekeeping))
  const ledgerHours = setInterval(() => {
    built.ledger.closeHours({ hours_max: maxLedgerHours }).catch((error: unknown) => {
      logger.warn({ err: error }, 'closing hours of the ledger failed; retrying later')
    })
  }, ledgerHoursEveryMs).unref()
  parts.defer(() => clearInterval(ledgerHours))
  const requests = {
    body_bytes_max: config.ingest_body_bytes_max,
    take_over_after_ms: config.ingest_take_over_ms,
  }
  const { deps: routing, ...choice } = openStoreRouting(context, built)
  const postgres_pool_max = config.query_postgres_connections_max
  const reads = openPostgres(context, { ...config, postgres_pool_max })
  const queries = openQueryRuns(context, config, { ...built, ...choice, reads })
  const archives = archiveDeps(context, config, built)
  const { measureRange, examples } = openSignals({ ...built, clock, logger })
  const { saved_queries_max, retention_hour } = config
  const asked = {
    queries,
    measureRange,
    examples,
    saved_queries_max,
    retention_hour,
  }
  const outbound = openReceivers(config)
  const channels = { db, clock, secret_key, mailer, outbound, public_url: config.public_url }
  const verification = openVerificationApi(context, config, { ...built, outbound })
  const feedback = {
    db,
    clock,
    policies: built.intake.policies,
    limits: defaultFeedbackLimits,
    browsers: createBrowserLimits(),
    network_tags: createNetworkTags(secret_key),
  }
  const onboarding = openOnboarding(context, config, {
    ...built,
    rules: { db, clock },
    verification: verification.runs,
    archives_configured: archives.is_configured,
  })
  const opened = {
    clock,
    requests,
    routing,
    archives,
    channels,
    verification,
    feedback,
    onboarding,
    sources: openSources(context, config),
  }
  const observability = { ...built, ...asked, ...opened }
  return { access, routes: controlRoutes(access, observability) }
}

function openConfiguredAccess(options: AccessOptions, config: RoleConfig<'api'>): Access {
  try {
    return openAccess({ ...options, outbound: openIssuerOutbound(config) })
  } catch (error) {
    if (error instanceof IssuerMisconfigured) throw new ConfigError(error.message)
    throw error
  }
}
