import { z } from 'zod'
import {
  content,
  instant,
  labels,
  optional,
  ownerFields,
  shortText,
  traceId,
  w3cFields,
} from './fields.ts'

/** What a client says of a whole trace; its observations inherit who it belongs to. */
export const traceRecord = z.strictObject({
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
