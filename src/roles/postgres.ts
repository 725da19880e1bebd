import { ConfigError, type Settings } from '../platform/config/index.ts'
import {
  type AccessTables,
  type ArchiveTables,
  type AuditTables,
  type CaptureTables,
  type CertificationTables,
  type DetectionTables,
  type FeedbackTables,
  type HotTables,
  type IncidentTables,
  type IngestTables,
  type InsightTables,
  isRelationalUnavailable,
  type JobTables,
  type OnboardingTables,
  openRelational,
  openWakeChannel,
  type Relational,
  type RetentionTables,
  type RouteTables,
  type SavedQueryTables,
  type TaskTables,
  type VerificationTables,
  type Wakes,
} from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'

/** All tables of PostgreSQL. */
export type Tables = AccessTables &
  AuditTables &
  HotTables &
  FeedbackTables &
  IncidentTables &
  InsightTables &
  JobTables &
  OnboardingTables &
  TaskTables &
  IngestTables &
  CaptureTables &
  DetectionTables &
  ArchiveTables &
  RetentionTables &
  RouteTables &
  SavedQueryTables &
  VerificationTables &
  CertificationTables

/** Requests fail fast while PostgreSQL is unavailable. */
const connect_timeout_ms = 5_000

/** Opens PostgreSQL. Closed when the role ends. */
export function openPostgres(
  context: RoleContext,
  config: Settings<'relational'>,
): Relational<Tables> {
  const relational = openRelational<Tables>({
    url: postgresUrl(config),
    pool_max: config.postgres_pool_max,
    connect_timeout_ms,
    statement_timeout_ms: config.postgres_statement_timeout_ms,
    logger: context.logger,
  })
  context.parts.defer(() => relational.close())
  return relational
}

/** Opens the connection that receives announcements of work. Closed when the role ends. */
export function openWakes(context: RoleContext, config: Settings<'relational'>): Wakes {
  const channel = openWakeChannel({
    url: postgresUrl(config),
    slow_poll_ms: config.postgres_slow_poll_ms,
    logger: context.logger,
  })
  context.parts.defer(() => channel.close())
  return channel
}

/** Returns the URL of PostgreSQL. Throws ConfigError when it is missing. */
export function postgresUrl({ postgres_url }: Settings<'relational'>): string {
  if (postgres_url !== undefined) return postgres_url
  throw new ConfigError(
    'LOOPTRACE_POSTGRES_URL: missing, expected postgres://user:password@host/db',
  )
}

/**
 * PostgreSQL gives no answer. The message names the setting, but not the address, which may contain
 * a password.
 */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable'
}

/** Names the setting in a failure to reach PostgreSQL. Rethrows other errors. */
export function explainPostgres(error: unknown): never {
  if (!isRelationalUnavailable(error)) throw error
  const reason = error instanceof Error ? error.message : String(error)
  throw new PostgresUnavailable(`PostgreSQL (LOOPTRACE_POSTGRES_URL) is unavailable: ${reason}`, {
    cause: error,
  })
}
