import { z } from 'zod'
import { instant, labels, observationId, optional, shortText, traceId } from './fields.ts'

/** An observation points at another one, of this trace or another. */
export const linkRecord = z.strictObject({
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
