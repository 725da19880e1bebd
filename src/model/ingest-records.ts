import type { Observation } from './observation.ts'

/** Text on its way to a store: a string, or UTF-8 bytes that nobody had to decode. */
export type Text = string | Uint8Array
/** Keys and values in turn: cheaper on the hot path than an object, and order is kept. */
export type TextPairs = readonly Text[]

/** The ways in. */
export const ingestPaths = ['proxy', 'otlp', 'api'] as const
export type IngestPath = (typeof ingestPaths)[number]

/** An observation as an edge makes it; the queue message that takes it adds its own id. */
export type ObservationDraft = Omit<
  Observation,
  'input' | 'output' | 'attributes' | 'metadata' | 'message_id'
> & { input: Text; output: Text; attributes: TextPairs; metadata: TextPairs }

/** What is said of a whole trace. Empty text is not known. Times are nanoseconds since 1970. */
export type TraceDraft = {
  project_id: string
  /** UUID. */
  trace_id: string
  /** When the trace began, as far as the client says; the time of arrival otherwise. */
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

/** Something that happened at one moment of an observation. */
export type EventDraft = {
  project_id: string
  trace_id: string
  /** Empty when it belongs to the trace alone. */
  observation_id: string
  /** Unique within its observation: a client's own, else the event's place among its siblings. */
  event_id: string
  time: bigint
  name: string
  level: Observation['level']
  source: IngestPath
  /** Text or JSON; for GenAI events what was said. */
  body: Text
  attributes: TextPairs
}

/** An observation points at another one, of this trace or another. */
export type LinkDraft = {
  project_id: string
  trace_id: string
  observation_id: string
  /** Unique within its observation. */
  link_id: string
  /** When the observation that links began. */
  time: bigint
  linked_trace_id: string
  /** Empty when the whole trace is meant. */
  linked_observation_id: string
  source: IngestPath
  attributes: TextPairs
}

/** How the type of a correlation is spelled. */
export const correlationTypePattern = /^[a-z][a-z0-9_.-]{0,63}$/

/** A name under which others know the trace or the observation: `w3c_traceparent`, an order id. */
export type CorrelationDraft = {
  project_id: string
  trace_id: string
  /** Empty when the whole trace is meant. */
  observation_id: string
  /** See `correlationTypePattern`. */
  correlation_type: string
  /** At most 2,048 characters. */
  correlation_value: string
  time: bigint
  source: IngestPath
  metadata: TextPairs
}

/** All that one request brings. */
export type IngestRecords = {
  traces: TraceDraft[]
  observations: ObservationDraft[]
  events: EventDraft[]
  links: LinkDraft[]
  correlations: CorrelationDraft[]
}

/** How many records of each kind, as receipts tell it. */
export type RecordCounts = Record<keyof IngestRecords, number>
