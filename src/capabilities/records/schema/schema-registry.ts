import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import type { RecordCounts } from '../../../model/ingest-records.ts'
import type { ObservationRecord } from './2026-02-23/observation-record.ts'
import {
  type CorrelationRecord,
  type EventRecord,
  type LinkRecord,
  type TraceRecord,
  version20260223,
} from './2026-02-23/version.ts'

export const schemaStatuses = ['active', 'deprecated', 'retired'] as const

/** The kinds of records of a batch, in the order in which they are read. */
export const recordKinds = [
  'traces',
  'observations',
  'events',
  'links',
  'correlations',
] as const satisfies readonly (keyof RecordCounts)[]
export type RecordKind = (typeof recordKinds)[number]

/** A record of each kind, read and valid. Whatever a later version takes, it reads as these. */
export type CanonicalRecords = {
  traces: TraceRecord
  observations: ObservationRecord
  events: EventRecord
  links: LinkRecord
  correlations: CorrelationRecord
}

/**
 * One version of the canonical schema. A version that is out may take more values, never fewer or
 * with another meaning: that is a new version.
 */
export type SchemaVersion = {
  /** In the form of a date. */
  version: string
  /** A `deprecated` version is taken, a `retired` one is not. */
  status: (typeof schemaStatuses)[number]
  /** ISO 8601. */
  released_at: string
  compatibility_notes: string
  records: { [Kind in RecordKind]: z.ZodType<CanonicalRecords[Kind]> }
}

/** Every version there was, newest first. */
export const schemaVersions: readonly SchemaVersion[] = [version20260223].toSorted((a, b) =>
  a.version < b.version ? 1 : -1,
)

/**
 * The version of that name among `known` ones; without a name, the newest active one. Throws
 * `unknown_schema_version` for a version that nobody knows or that is retired.
 */
export function schemaVersionNamed(
  name: string | undefined,
  known: readonly SchemaVersion[] = schemaVersions,
): SchemaVersion {
  const found =
    name === undefined
      ? known.find(({ status }) => status === 'active')
      : known.find(({ version, status }) => version === name && status !== 'retired')
  if (found !== undefined) return found
  const taken = known.filter(({ status }) => status !== 'retired').map(({ version }) => version)
  const detail = `got ${JSON.stringify(name?.slice(0, 80))}, expected one of ${taken.join(', ')}`
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

/** The JSON Schema (2020-12) of a whole batch in this version. */
export function batchJsonSchema({ version, records }: SchemaVersion): Record<string, unknown> {
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
