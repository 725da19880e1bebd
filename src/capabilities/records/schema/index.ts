import type { Route } from '../../../platform/http/index.ts'
import { getSchema, listSchemaVersions } from './schema.ts'

export { traceparent as traceparentField } from './2026-02-23/fields.ts'
export type { ObservationRecord } from './2026-02-23/observation-record.ts'
export {
  type CorrelationRecord,
  correlationRecord,
  type EventRecord,
  type LinkRecord,
  type TraceRecord,
} from './2026-02-23/version.ts'
export {
  type CanonicalRecords,
  namedRecords,
  type RecordKind,
  recordKinds,
  type SchemaVersion,
  schemaVersionNamed,
  schemaVersions,
} from './schema.ts'

/** The routes under `/api/v2/observability/schema`. */
export function schemaRoutes(): Route[] {
  return [getSchema(), listSchemaVersions()]
}
