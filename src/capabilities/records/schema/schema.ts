import { z } from 'zod'
import { keyScopes } from '../../../kernel/scopes.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { batchJsonSchema, schemaStatuses, schemaVersionNamed } from './schema-registry.ts'

/** GET /api/v2/observability/schema: the canonical schema of a batch, as JSON Schema. */
export function getSchema(): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/schema',
    id: 'getObservabilitySchema',
    summary: 'The canonical schema as JSON Schema 2020-12',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: keyScopes },
    query: z.strictObject({
      version: z
        .string()
        .max(64)
        .optional()
        .describe('Version of the schema. Default: the newest active one.'),
    }),
    reply: replySchema,
    errors: ['unknown_schema_version'],
    handle: async ({ query }) => {
      const schema = schemaVersionNamed(query.version)
      const { version, status } = schema
      return { version, status, schema: batchJsonSchema(schema) }
    },
  })
}

const replySchema = record('CanonicalSchema', {
  version: z.string(),
  status: z.enum(schemaStatuses).meta({ id: 'SchemaStatus' }),
  schema: z.record(z.string(), z.unknown()).describe('JSON Schema of a batch.'),
})
