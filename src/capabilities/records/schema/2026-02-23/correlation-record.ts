import { z } from 'zod'
import { correlationTypePattern } from '../../../../model/ingest-records.ts'
import { expected } from '../../../../model/list-query.ts'
import { instant, labels, observationId, optional, shortText, traceId } from './fields.ts'

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
