export { type CorrelationRecord, correlationRecord } from './2026-02-23/correlation-record.ts'
export type { EventRecord } from './2026-02-23/event-record.ts'
export { traceparent as traceparentField } from './2026-02-23/fields.ts'
export type { LinkRecord } from './2026-02-23/link-record.ts'
export type { ObservationRecord } from './2026-02-23/observation-record.ts'
export type { TraceRecord } from './2026-02-23/trace-record.ts'
export {
  type CanonicalRecords,
  namedRecords,
  type RecordKind,
  recordKinds,
  type SchemaVersion,
  schemaVersionNamed,
  schemaVersions,
} from './schema-registry.ts'
export { schemaRoutes } from './schema-routes.ts'
