import { z } from 'zod'
import { durationPattern } from '../kernel/duration.ts'
import { anyTraceIdPattern, traceparentPattern } from '../kernel/ids.ts'
import { correlationTypePattern } from './ingest-records.ts'
import {
  levels,
  observationTypes,
  outcomes,
  statuses,
  traceIdSchema,
  usageSources,
} from './observation.ts'

/**
 * Defines a record of the API with its name in the OpenAPI document. Unknown fields are rejected.
 * Each name belongs to one record.
 */
export function record<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id })
}

const shown = new WeakMap<object, z.ZodType>()

/**
 * Replaces a schema in the OpenAPI document by another schema with an id. For values that code
 * validates (`z.unknown()` with a transform), so that clients know their shape.
 */
export function documentedAs<Schema extends z.ZodType>(schema: Schema, as: z.ZodType): Schema {
  const copy = schema.clone() as Schema
  shown.set(copy, as)
  return copy
}

/** Returns the schema that replaces this one in the OpenAPI document, if any. */
export function shownSchema(schema: object): z.ZodType | undefined {
  return shown.get(schema)
}

/** A fault in a request: its location, and the expected value. */
export const faultSchema = record('Fault', {
  pointer: z.string().describe('A JSON pointer into the body, or the name of a parameter.'),
  detail: z.string(),
})

/** An amount of money in a reply, as decimal text. */
export const dollarsSchema = z
  .string()
  .regex(/^-?\d+(\.\d{1,9})?$/)
  .meta({
    id: 'DecimalUsd',
    description: 'US dollars as decimal text, up to 9 digits after the point.',
  })

/** A window of time in a reply. */
export const windowSchema = record('TimeWindow', {
  from: z.iso.datetime().describe('Inclusive.'),
  to: z.iso.datetime().describe('Exclusive.'),
})

/**
 * Scalars that many records use. The OpenAPI document refers to a scalar wherever an equal schema
 * is used, so records need not import them.
 */
export const sharedScalars: readonly z.ZodType[] = [
  z.iso
    .datetime()
    .meta({ id: 'Timestamp', description: 'ISO 8601 in UTC, at least milliseconds.' }),
  z.iso.datetime({ offset: true }).meta({ id: 'OffsetTimestamp', description: 'ISO 8601.' }),
  z.string().meta({
    id: 'Instant',
    format: 'date-time',
    description: 'ISO 8601 with Z or an offset, from 1970 to 2261, with up to nine decimals.',
  }),
  z.iso.date().meta({ id: 'Day', description: 'A day in UTC, such as 2026-02-23.' }),
  z.uuid().meta({ id: 'Uuid' }),
  z.guid().meta({ id: 'Guid', description: 'Any 16 bytes in the form of a UUID.' }),
  traceIdSchema.meta({ id: 'TraceId', description: 'A W3C trace id in the form of a UUID.' }),
  z
    .string()
    .regex(new RegExp(anyTraceIdPattern))
    .meta({ id: 'AnyTraceId', description: 'A W3C trace id: 32 hex digits, or as a UUID.' }),
  z.string().regex(traceparentPattern).meta({ id: 'Traceparent' }),
  z.string().regex(durationPattern).meta({
    id: 'Duration',
    description: 'Whole numbers with a unit, such as `90s`, `10m` or `1h30m`.',
  }),
  z
    .string()
    .regex(correlationTypePattern)
    .meta({ id: 'CorrelationType', description: 'Type of a value, such as `order_id`.' }),
  z.int().nonnegative().meta({ id: 'Count', description: 'A whole number, at least 0.' }),
  z
    .int()
    .meta({ id: 'Integer', description: 'A whole number that JavaScript represents exactly.' }),
  z.enum(['asc', 'desc']).meta({ id: 'SortOrder' }),
  z.enum(observationTypes).meta({ id: 'ObservationType' }),
  z.enum(statuses).meta({ id: 'ObservationStatus' }),
  z.enum(levels).meta({ id: 'ObservationLevel', description: 'Empty means unknown.' }),
  z.enum(outcomes).meta({ id: 'Outcome', description: 'How a call of the proxy ended.' }),
  z.enum(usageSources).meta({ id: 'UsageSource', description: 'Source of the token counts.' }),
]
