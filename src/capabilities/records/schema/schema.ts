import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import type { RecordCounts } from '../../../model/ingest-records.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { ObservationRecord } from './2026-02-23/observation-record.ts'
import {
  type CorrelationRecord,
  type EventRecord,
  type LinkRecord,
  type TraceRecord,
  version20260223,
} from './2026-02-23/version.ts'

const schemaStatuses = ['active', 'deprecated', 'retired'] as const

/** Kinds of records of a batch, in the order in which they are read. */
export const recordKinds = [
  'traces',
  'observations',
  'events',
  'links',
  'correlations',
] as const satisfies readonly (keyof RecordCounts)[]
export type RecordKind = (typeof recordKinds)[number]

/** A valid record of each kind. Records of later versions are converted to these types. */
export type CanonicalRecords = {
  traces: TraceRecord
  observations: ObservationRecord
  events: EventRecord
  links: LinkRecord
  correlations: CorrelationRecord
}

/**
 * One version of the canonical schema. A released version may be extended to accept more values;
 * fewer values or another meaning need a new version.
 */
export type SchemaVersion = {
  /** A date. */
  version: string
  /** A `deprecated` version is accepted, a `retired` one is refused. */
  status: (typeof schemaStatuses)[number]
  /** ISO 8601. */
  released_at: string
  compatibility_notes: string
  records: { [Kind in RecordKind]: z.ZodType<CanonicalRecords[Kind]> }
}

/** All versions, newest first. */
export const schemaVersions: readonly SchemaVersion[] = [version20260223].toSorted((a, b) =>
  a.version < b.version ? 1 : -1,
)

/**
 * Returns the version with this name, or the newest active one without a name. Throws
 * `unknown_schema_version` for an unknown or retired version.
 */
export function schemaVersionNamed(
  name: string | undefined,
  known: readonly SchemaVersion[] = schemaVersions,
): SchemaVersion {
  const match =
    name === undefined
      ? known.find(({ status }) => status === 'active')
      : known.find(({ version, status }) => version === name && status !== 'retired')
  if (match !== undefined) return match
  const accepted = known.filter(({ status }) => status !== 'retired').map(({ version }) => version)
  const detail = `got ${JSON.stringify(name?.slice(0, 80))}, expected one of ${accepted.join(', ')}`
  throw problem('unknown_schema_version', {
    detail: `schema_version: ${detail}`,
    faults: [{ pointer: '/schema_version', detail }],
  })
}

const newest = schemaVersionNamed(undefined).records

/** The records of the newest active version, by their names in the OpenAPI document. */
export const namedRecords: SchemaVersion['records'] = {
  traces: newest.traces.meta({ id: 'IngestTrace' }),
  observations: newest.observations.meta({ id: 'IngestObservation' }),
  events: newest.events.meta({ id: 'IngestEvent' }),
  links: newest.links.meta({ id: 'IngestLink' }),
  correlations: newest.correlations.meta({ id: 'IngestCorrelation' }),
}

/** Returns the JSON Schema (2020-12) of a batch in this version. */
function batchJsonSchema({ version, records }: SchemaVersion): Record<string, unknown> {
  const list = (kind: RecordKind) => z.array(records[kind]).optional()
  const batch = z.strictObject({
    idempotency_key: z.string().optional(),
    schema_version: z.literal(version).optional(),
    traces: list('traces'),
    observations: list('observations'),
    events: list('events'),
    links: list('links'),
    correlations: list('correlations'),
    traceparent: z.string().nullish(),
    tracestate: z.string().nullish(),
    baggage: z.string().nullish(),
  })
  return z.toJSONSchema(batch, { io: 'input', target: 'draft-2020-12' })
}

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

/** GET /api/v2/observability/schema/versions: every version, newest first. */
export function listSchemaVersions(): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/schema/versions',
    id: 'listObservabilitySchemaVersions',
    summary: 'Versions of the canonical schema, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: keyScopes },
    reply: versionsReply,
    errors: [],
    handle: async () => {
      const versions = schemaVersions.map(({ records: _records, ...about }) => about)
      return { versions, total: versions.length }
    },
  })
}

const versionsReply = record('SchemaVersionList', {
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
