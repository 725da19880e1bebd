import { z } from 'zod'
import { expected } from '../../../../model/list-query.ts'
import { instant, labels, observationId, optional, shortText, traceId } from './fields.ts'

const typePattern = /^[a-z][a-z0-9_.-]{0,63}$/

/** A name under which others know a trace or an observation. */
export const correlationRecord = z.strictObject({
  trace_id: traceId,
  observation_id: optional(observationId).describe('Left out, the whole trace is meant.'),
  correlation_type: z
    .string()
    .regex(typePattern, { error: expected('a lower-case name of at most 64 characters') }),
  correlation_value: shortText(2048).min(1),
  time: optional(instant).describe('The time of arrival when left out.'),
  metadata: optional(labels),
})
export type CorrelationRecord = z.output<typeof correlationRecord>
