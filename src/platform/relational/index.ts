export { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
export type { AccessTables } from './access-tables.ts'
export type { ArchiveTables } from './archive-tables.ts'
export type { CaptureTables } from './capture-tables.ts'
export type { DetectionTables } from './detection-tables.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/start-embedded-postgres.ts'
export type { HotTables } from './hot-tables.ts'
export { deleteExpiredIdempotencyKeys, openIdempotencyStore } from './idempotency-store.ts'
export type { IngestTables } from './ingest-tables.ts'
export type { JobTables } from './job-tables.ts'
export {
  type AppliedStatement,
  type MigrateOptions,
  MigrationFailed,
  migrateRelational,
} from './migrate-relational.ts'
export { openRelational, type Relational, type RelationalOptions } from './open-relational.ts'
export { type BoundedRead, ReadOverTime, readBounded } from './read-bounded.ts'
export type { ArchiveSchedule, RetentionDays, RetentionTables } from './retention-tables.ts'
export type { RouteTables } from './route-tables.ts'
export type { SavedQueryTables } from './saved-query-tables.ts'
export { relationalSchemaStatus } from './schema-status.ts'
export type { TaskTables, TaskVerdict } from './task-tables.ts'
export { asStoreProblem, isLockTimeout, isRelationalUnavailable } from './unavailable.ts'
