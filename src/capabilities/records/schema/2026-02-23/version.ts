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

/** A whole trace, as a client reports it; its observations inherit its owner fields. */
const traceRecord = z.strictObject({
  trace_id: traceId,
  time: optional(instant).describe('Start of the trace. Default: the time of arrival.'),
  name: optional(shortText(1024)),
  ...ownerFields,
  input: content,
  output: content,
  metadata: optional(labels),
  ...w3cFields,
})
export type TraceRecord = z.output<typeof traceRecord>

/** An event at one moment of a trace or an observation. */
const eventRecord = z.strictObject({
  trace_id: traceId,
  observation_id: optional(observationId).describe(
    'Observation of the event; left out for an event of the trace alone.',
  ),
  event_id: optional(shortText(64)).describe(
    'Id, unique within the observation. Default: its time, and its index among events of that time.',
  ),
  time: instant,
  name: shortText(1024).min(1),
  level: optional(level),
  body: content,
  attributes: optional(labels),
})
export type EventRecord = z.output<typeof eventRecord>

/** A link from an observation to another one, of the same trace or another. */
const linkRecord = z.strictObject({
  trace_id: traceId,
  observation_id: observationId,
  link_id: optional(shortText(128)).describe(
    'Id, unique within the observation. Default: derived from the linked ids.',
  ),
  time: optional(instant).describe(
    'Time of the link. Default: the start of the observation if the batch has it, else the time of arrival.',
  ),
  linked_trace_id: traceId,
  linked_observation_id: optional(observationId).describe(
    'Linked observation; left out for a link to the whole trace.',
  ),
  attributes: optional(labels),
})
export type LinkRecord = z.output<typeof linkRecord>

/** An identifier of a trace or an observation in another system. */
export const correlationRecord = z.strictObject({
  trace_id: traceId,
  observation_id: optional(observationId).describe(
    'Observation with this identifier; left out for the whole trace.',
  ),
  correlation_type: z.string().regex(correlationTypePattern, {
    error: expected('a lower-case name of at most 64 characters'),
  }),
  correlation_value: shortText(2048).min(1),
  time: optional(instant).describe('Time of the correlation. Default: the time of arrival.'),
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
