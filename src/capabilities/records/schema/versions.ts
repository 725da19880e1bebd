import { z } from 'zod'
import { keyScopes } from '../../../kernel/scopes.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { schemaStatuses, schemaVersions } from './schema.ts'

/** GET /api/v2/observability/schema/versions: every version, newest first. */
export function listSchemaVersions(): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/schema/versions',
    id: 'listObservabilitySchemaVersions',
    summary: 'Versions of the canonical schema, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: keyScopes },
    reply: replySchema,
    errors: [],
    handle: async () => {
      const versions = schemaVersions.map(({ records: _records, ...about }) => about)
      return { versions, total: versions.length }
    },
  })
}

const replySchema = record('SchemaVersionList', {
  versions: z.array(
    record('SchemaVersion', {
      version: z.string().describe('Version, a date.'),
      status: z.enum(schemaStatuses),
      released_at: z.iso.datetime(),
      compatibility_notes: z.string(),
    }),
  ),
  total: z.int().nonnegative(),
})
