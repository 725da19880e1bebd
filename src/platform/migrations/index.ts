export { type Migration, MigrationRefused, readMigrations } from './migration-files.ts'
export {
  type AppliedMigration,
  assertSchemaCurrent,
  compareSchema,
  refuseNewer,
  type SchemaStatus,
} from './schema-status.ts'
