import type { Route } from '../../../platform/http/index.ts'
import { getSchema } from './schema.ts'
import { listSchemaVersions } from './versions.ts'

/** The routes under `/api/v2/observability/schema`. */
export function schemaRoutes(): Route[] {
  return [getSchema(), listSchemaVersions()]
}
