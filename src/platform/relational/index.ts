export {
  CompiledQuery,
  type Kysely,
  type Selectable,
  type SelectQueryBuilder,
  sql,
  type Transaction,
} from 'kysely'
export type { AccessTables, PasswordOrigin } from './access-tables.ts'
export type { AuditTables } from './audit-tables.ts'
export type { CertificationTables } from './certification-tables.ts'
export { noteChanges, type OnCommitted } from './committed-changes.ts'
export {
  assertDatabaseEmpty,
  CopyRefused,
  copyDatabase,
  countRows,
} from './copy-database.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/start-embedded-postgres.ts'
export type { FeedbackTables } from './feedback-tables.ts'
export { deleteExpiredIdempotencyKeys, openIdempotencyStore } from './idempotency-store.ts'
export type { IncidentTables } from './incident-tables.ts'
export type { InsightTables } from './insight-tables.ts'
export type {
  ArchiveSchedule,
  ArchiveTables,
  JobTables,
  RetentionDays,
  RetentionTables,
} from './lifecycle-tables.ts'
export { afterPosition, allOf, type Fragment } from './list-conditions.ts'
export {
  type AppliedStatement,
  type MigrateOptions,
  MigrationFailed,
  migrateRelational,
  relationalSchemaStatus,
} from './migrate-relational.ts'
export type {
  CaptureTables,
  HotTables,
  IngestTables,
  RouteTables,
  SavedQueryTables,
} from './observation-tables.ts'
export type { OnboardingTables } from './onboarding-tables.ts'
export { openRelational, type Relational, type RelationalOptions } from './open-relational.ts'
export { ownedBy } from './owned-by.ts'
export { type BoundedRead, ReadOverTime, readBounded } from './read-bounded.ts'
export type { ScopedPool } from './scoped-pool.ts'
export { storableJson, storableText } from './storable.ts'
export type { DetectionTables, TaskTables, TaskVerdict } from './task-tables.ts'
export { partitionPolicy, tablesWithoutPolicy } from './tenant-policies.ts'
export { asStoreProblem, isLockTimeout, isRelationalUnavailable } from './unavailable.ts'
export type { VerificationTables } from './verification-tables.ts'
