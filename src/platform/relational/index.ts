export {
  CompiledQuery,
  type Kysely,
  type Selectable,
  type SelectQueryBuilder,
  sql,
  type Transaction,
} from 'kysely'
export type { AccessTables } from './access-tables.ts'
export type {
  ArchiveSchedule,
  PasswordOrigin,
  RetentionDays,
  TaskVerdict,
} from './column-values.ts'
export { noteChanges } from './committed-changes.ts'
export {
  assertDatabaseEmpty,
  CopyRefused,
  copyDatabase,
  countRows,
} from './copy-database.ts'
export {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from './embedded/start-embedded-postgres.ts'
export { deleteExpiredIdempotencyKeys, openIdempotencyStore } from './idempotency-store.ts'
export { afterPosition, allOf, countUpTo, type Fragment, ownedBy } from './list-conditions.ts'
export {
  type AppliedStatement,
  MigrationFailed,
  migrateRelational,
  relationalSchemaStatus,
} from './migrate-relational.ts'
export { openRelational, type Relational, type RelationalOptions } from './open-relational.ts'
export { prepared } from './prepared.ts'
export { ReadOverTime, readBounded } from './read-bounded.ts'
export { storableJson, storableText } from './storable.ts'
export type { ArchiveTables } from './tables/archive-tables.ts'
export type { AuditTables } from './tables/audit-tables.ts'
export type { CaptureTables } from './tables/capture-tables.ts'
export type { CertificationTables } from './tables/certification-tables.ts'
export type { DetectionTables } from './tables/detection-tables.ts'
export type { FeedbackTables } from './tables/feedback-tables.ts'
export type { HotTables } from './tables/hot-tables.ts'
export type { IncidentTables } from './tables/incident-tables.ts'
export type { IngestTables } from './tables/ingest-tables.ts'
export type { InsightTables } from './tables/insight-tables.ts'
export type { JobTables } from './tables/job-tables.ts'
export type { OnboardingTables } from './tables/onboarding-tables.ts'
export type { RetentionTables } from './tables/retention-tables.ts'
export type { RouteTables } from './tables/route-tables.ts'
export type { SavedQueryTables } from './tables/saved-query-tables.ts'
export type { TaskTables } from './tables/task-tables.ts'
export type { VerificationTables } from './tables/verification-tables.ts'
export { partitionPolicy, tablesWithoutPolicy } from './tenant-policies.ts'
export { asStoreProblem, isLockTimeout, isRelationalUnavailable } from './unavailable.ts'
export {
  openWakeChannel,
  pollingWakes,
  type Waker,
  type Wakes,
  type WakeTopic,
} from './wake-channel.ts'
