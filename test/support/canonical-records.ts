/** A trace id as W3C spells it, and the same as a UUID. */
export const traceHex = '0af7651916cd43dd8448eb211c80319c'
export const traceUuid = '0af76519-16cd-43dd-8448-eb211c80319c'
export const start = '2026-03-01T12:00:00.123456789Z'
export const start_ns = 1_772_366_400_123_456_789n

type Given = Record<string, unknown>

/** Records of a canonical batch with what each needs, and what a test adds. */
export const observation = (more: Given = {}) => ({
  trace_id: traceHex,
  observation_id: 'o-1',
  start_time: start,
  ...more,
})
export const trace = (more: Given = {}) => ({ trace_id: traceUuid, ...more })
export const event = (more: Given = {}) => ({
  trace_id: traceHex,
  time: start,
  name: 'said',
  ...more,
})
export const link = (more: Given = {}) => ({
  trace_id: traceHex,
  observation_id: 'o-1',
  linked_trace_id: traceHex,
  ...more,
})
export const correlation = (more: Given = {}) => ({
  trace_id: traceHex,
  correlation_type: 'order_id',
  correlation_value: '4711',
  ...more,
})
