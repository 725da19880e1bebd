import { type Access, accessRoutes, openAccess } from '../capabilities/access/index.ts'
import { conversationRoutes, conversationTreeRoutes } from '../capabilities/conversations/index.ts'
import { type ContextJudge, detectionRoutes } from '../capabilities/detection/index.ts'
import { deleteExpiredIngestRequests } from '../capabilities/edge/batches/index.ts'
import type { QuerySettings } from '../capabilities/query/index.ts'
import { type TaskDeps, taskRoutes } from '../capabilities/tasks/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import type { Route } from '../platform/http/index.ts'
import { deleteExpiredIdempotencyKeys } from '../platform/relational/index.ts'
import { archiveDeps } from './archives.ts'
import { openStoreRouting } from './hot-window.ts'
import type { Intake } from './intake.ts'
import { type ObservabilityParts, observabilityRoutes } from './observability.ts'
import { openQueryRuns } from './queries.ts'
import type { RoleContext } from './running.ts'
import { openPostgres, type Stores } from './stores.ts'

type ControlConfig = Pick<
  RoleConfig<'api'>,
  | 'secret_key'
  | 'token_issuer'
  | 'token_ttl_ms'
  | 'oidc_issuer'
  | 'oidc_audience'
  | 'task_stalled_after_ms'
  | 'ingest_body_bytes_max'
  | 'ingest_take_over_ms'
  | 'ingest_inflight_records_max'
  | 'saved_queries_max'
  | 'retention_hour'
  | 'query_postgres_connections_max'
  | 'postgres_url'
  | 'postgres_connect_timeout_ms'
  | 'postgres_statement_timeout_ms'
  | 'blobs_url'
  | 'clickhouse_cluster'
> &
  QuerySettings

const housekeepingEvery_ms = 60 * 60 * 1000
const ledgerHoursEvery_ms = 10 * 60 * 1000
const ledgerHours_max = 1000

/** Builds the control plane: sign-in and the routes of the product APIs. */
export function openControl(
  context: RoleContext,
  config: ControlConfig,
  built: Stores & {
    intake: Intake
    queue: ObservabilityParts['queue']
    judge: ContextJudge | undefined
  },
): { access: Access; routes: Route[] } {
  const { logger, clock, parts } = context
  const { secret_key } = config
  const { db } = built
  if (secret_key === undefined) {
    throw new ConfigError('LOOPTRACE_SECRET_KEY: missing, expected at least 32 characters')
  }
  const access = openAccess({ ...config, secret_key, db, clock, logger })
  parts.defer(() => access.close())
  const housekeeping = setInterval(() => {
    const deleted = [deleteExpiredIdempotencyKeys(db), deleteExpiredIngestRequests(db)]
    Promise.all(deleted).catch((error: unknown) => {
      logger.warn({ err: error }, 'expired idempotency keys stay for now')
    })
  }, housekeepingEvery_ms).unref()
  parts.defer(() => clearInterval(housekeeping))
  const ledgerHours = setInterval(() => {
    built.ledger.closeHours({ hours_max: ledgerHours_max }).catch((error: unknown) => {
      logger.warn({ err: error }, 'hours of the ledger are read entry by entry for now')
    })
  }, ledgerHoursEvery_ms).unref()
  parts.defer(() => clearInterval(ledgerHours))
  const settings = { stalled_after_ms: config.task_stalled_after_ms }
  const requests = {
    body_bytes_max: config.ingest_body_bytes_max,
    take_over_after_ms: config.ingest_take_over_ms,
    items_in_flight_max: config.ingest_inflight_records_max,
  }
  const { deps: routing, ...choice } = openStoreRouting(context, built)
  const postgres_pool_max = config.query_postgres_connections_max
  const reads = openPostgres(context, { ...config, postgres_pool_max })
  const queries = openQueryRuns(context, config, { ...built, ...choice, reads })
  const archives = archiveDeps(context, config, built)
  const { saved_queries_max, retention_hour } = config
  const asked = { queries, saved_queries_max, retention_hour }
  const observability = { ...built, ...asked, clock, settings, requests, routing, archives }
  return { access, routes: controlRoutes(access, observability) }
}

/** The routes of the product APIs; nothing is read before one is called. */
export function controlRoutes(access: Access, parts: TaskDeps & ObservabilityParts): Route[] {
  return [
    ...accessRoutes(access),
    ...taskRoutes(parts),
    ...conversationRoutes(parts),
    ...conversationTreeRoutes(parts),
    ...detectionRoutes(parts),
    ...observabilityRoutes(parts),
  ]
}
