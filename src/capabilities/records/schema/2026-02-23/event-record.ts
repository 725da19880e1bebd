import { z } from 'zod'
import {
  content,
  instant,
  labels,
  level,
  observationId,
  optional,
  shortText,
  traceId,
} from './fields.ts'

/** Something that happened at one moment of a trace or an observation. */
export const eventRecord = z.strictObject({
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
