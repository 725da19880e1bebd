import type { Exchange } from '../../../../model/exchange.ts'
import type {
  CorrelationDraft,
  IngestRecords,
  ObservationDraft,
} from '../../../../model/ingest-records.ts'
import type { Observation } from '../../../../model/observation.ts'
import { exchangeToObservation, type MappingContext } from './exchange-to-observation.ts'

/**
 * The records of a call: its observation, and correlations for the W3C headers that came with it. A
 * body that makes the mapping fail costs the content, not the record of the call; only the kind of
 * the failure is told, since its message may quote the body.
 */
export function exchangeToRecords(exchange: Exchange, context: MappingContext): IngestRecords {
  const observation = mappedOrBare(exchange, context)
  return {
    traces: [],
    observations: [draftOf(observation)],
    events: [],
    links: [],
    correlations: correlationsOf(observation),
  }
}

function mappedOrBare(exchange: Exchange, context: MappingContext): Observation {
  try {
    return exchangeToObservation(exchange, '', context)
  } catch (error) {
    const facts = { ...exchange.facts, content_state: 'dropped' as const }
    const bare = exchangeToObservation({ facts, request: nothing, response: nothing }, '', context)
    const reason = error instanceof Error ? error.name : 'unknown'
    return { ...bare, attributes: { ...bare.attributes, 'mapping.error': reason } }
  }
}

const nothing = new Uint8Array(0)

function draftOf({ message_id: _, attributes, metadata, ...rest }: Observation): ObservationDraft {
  return { ...rest, attributes: pairsOf(attributes), metadata: pairsOf(metadata) }
}

function pairsOf(record: Readonly<Record<string, string>>): string[] {
  const pairs: string[] = []
  for (const key in record) pairs.push(key, record[key] ?? '')
  return pairs
}

const correlationTypes = [
  ['w3c.traceparent', 'w3c_traceparent'],
  ['w3c.tracestate', 'w3c_tracestate'],
  ['w3c.baggage', 'w3c_baggage'],
] as const

const value_chars_max = 2_048

function correlationsOf(observation: Observation): CorrelationDraft[] {
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
