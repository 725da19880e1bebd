import { z } from 'zod'
import { correlationTypePattern } from '../../../../model/ingest-records.ts'
import { expected } from '../../../../model/list-query.ts'
import {
  content,
  instant,
  labels,
  level,
  observationId,
  optional,
  ownerFields,
  shortText,
  traceId,
  w3cFields,
} from './fields.ts'
import { observationRecord } from './observation-record.ts'

/** What a client says of a whole trace; its observations inherit who it belongs to. */
const traceRecord = z.strictObject({
  trace_id: traceId,
  time: optional(instant).describe('When it began; the time of arrival when left out.'),
  name: optional(shortText(1024)),
  ...ownerFields,
  input: content,
  output: content,
  metadata: optional(labels),
  ...w3cFields,
})

export type TraceRecord = z.output<typeof traceRecord>

/** Something that happened at one moment of a trace or an observation. */
const eventRecord = z.strictObject({
  trace_id: traceId,
  observation_id: optional(observationId).describe('Left out, it belongs to the trace alone.'),
  event_id: optional(shortText(64)).describe(
    'Unique within its observation. Left out: its time, and its place among those of that time.',
  ),
  time: instant,
  name: shortText(1024).min(1),
  level: optional(level),
  body: content,
  attributes: optional(labels),
})

export type EventRecord = z.output<typeof eventRecord>

/** An observation points at another one, of this trace or another. */
const linkRecord = z.strictObject({
  trace_id: traceId,
  observation_id: observationId,
  link_id: optional(shortText(128)).describe(
    'Unique within its observation. Left out, it is made of what is linked.',
  ),
  time: optional(instant).describe(
    'Left out: the start of the observation when the batch has it, else the time of arrival.',
  ),
  linked_trace_id: traceId,
  linked_observation_id: optional(observationId).describe('Left out, the whole trace is meant.'),
  attributes: optional(labels),
})

export type LinkRecord = z.output<typeof linkRecord>

/** A name under which others know a trace or an observation. */
export const correlationRecord = z.strictObject({
  trace_id: traceId,
  observation_id: optional(observationId).describe('Left out, the whole trace is meant.'),
  correlation_type: z.string().regex(correlationTypePattern, {
    error: expected('a lower-case name of at most 64 characters'),
  }),
  correlation_value: shortText(2048).min(1),
  time: optional(instant).describe('The time of arrival when left out.'),
  metadata: optional(labels),
})

export type CorrelationRecord = z.output<typeof correlationRecord>

/** The first canonical schema. */
export const version20260223 = {
  version: '2026-02-23',
  status: 'active',
  released_at: '2026-02-23T00:00:00.000Z',
  compatibility_notes: 'Initial canonical observability schema contract v2.',
  records: {
    traces: traceRecord,
    observations: observationRecord,
    events: eventRecord,
    links: linkRecord,
    correlations: correlationRecord,
  },
} as const
