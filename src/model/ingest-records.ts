import type { Observation } from './observation.ts'

/** Text to be stored: a string, or UTF-8 bytes that were not decoded. */
export type Text = string | Uint8Array
/** Alternating keys and values: cheaper on the hot path than an object, and ordered. */
export type TextPairs = readonly Text[]

/** The ingest paths. */
export const ingestPaths = ['proxy', 'otlp', 'api'] as const
export type IngestPath = (typeof ingestPaths)[number]

/** An observation as the edge makes it, without the id of its queue message. */
export type ObservationDraft = Omit<
  Observation,
  'input' | 'output' | 'attributes' | 'metadata' | 'message_id'
> & { input: Text; output: Text; attributes: TextPairs; metadata: TextPairs }

/** Fields of a whole trace. Empty text means unknown. Times are nanoseconds since 1970. */
export type TraceDraft = {
  project_id: string
  /** UUID. */
  trace_id: string
  /** Start of the trace as the client reports it, otherwise the time of arrival. */
  time: bigint
  name: string
  source: IngestPath
  task_id: string
  task_name: string
  conversation_id: string
  conversation_external_id: string
  user_id: string
  environment: string
  release: string
  input: Text
  output: Text
  metadata: TextPairs
}

/** An event at one moment of an observation. */
export type EventDraft = {
  project_id: string
  trace_id: string
  /** Empty when it belongs to the trace alone. */
  observation_id: string
  /** Unique within its observation: the client's id, otherwise the index among its siblings. */
  event_id: string
  time: bigint
  name: string
  level: Observation['level']
  source: IngestPath
  /** Text or JSON; for GenAI events, the message. */
  body: Text
  attributes: TextPairs
}

/** A link from an observation to another observation or trace. */
export type LinkDraft = {
  project_id: string
  trace_id: string
  observation_id: string
  /** Unique within its observation. */
  link_id: string
  /** Start of the linking observation. */
  time: bigint
  linked_trace_id: string
  /** Empty for a link to the whole trace. */
  linked_observation_id: string
  source: IngestPath
  attributes: TextPairs
}

/** Format of a correlation type. */
export const correlationTypePattern = /^[a-z][a-z0-9_.-]{0,63}$/

/** An external name of a trace or an observation: `w3c_traceparent`, an order id. */
export type CorrelationDraft = {
  project_id: string
  trace_id: string
  /** Empty for a name of the whole trace. */
  observation_id: string
  /** See `correlationTypePattern`. */
  correlation_type: string
  /** At most 2,048 characters. */
  correlation_value: string
  time: bigint
  source: IngestPath
  metadata: TextPairs
}

/** All records of one request. */
export type IngestRecords = {
  traces: TraceDraft[]
  observations: ObservationDraft[]
  events: EventDraft[]
  links: LinkDraft[]
  correlations: CorrelationDraft[]
}

/** Number of records of each kind, as in receipts. */
export type RecordCounts = Record<keyof IngestRecords, number>
