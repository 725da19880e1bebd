import type { CorrelationDraft } from '../../../../model/ingest-records.ts'
import type { Observation } from '../../../../model/observation.ts'

const correlationTypes = [
  ['w3c.traceparent', 'w3c_traceparent'],
  ['w3c.tracestate', 'w3c_tracestate'],
  ['w3c.baggage', 'w3c_baggage'],
] as const

const value_chars_max = 2_048

/** Returns the correlations of the W3C headers of a call. */
export function correlationsOf(observation: Observation): CorrelationDraft[] {
  const { project_id, trace_id, observation_id, start_time, attributes } = observation
  const about = { project_id, trace_id, observation_id, time: start_time, source: 'proxy' } as const
  const correlations: CorrelationDraft[] = []
  for (const [key, correlation_type] of correlationTypes) {
    const correlation_value = attributes[key]?.slice(0, value_chars_max) ?? ''
    if (correlation_value === '') continue
    correlations.push({ ...about, correlation_type, correlation_value, metadata: [] })
  }
  return correlations
}
