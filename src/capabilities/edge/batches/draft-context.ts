import { conversationIdFrom } from '../../../kernel/ids.ts'
import type { IngestRecords, Text, TextPairs } from '../../../model/ingest-records.ts'
import type { Pricing } from '../../records/pricing/index.ts'
import type { TraceRecord } from '../../records/schema/index.ts'
import { eachW3cValue } from './w3c-context.ts'

/** The inputs and the output of mapping one batch to drafts. */
export type DraftContext = {
  project_id: string
  /** Arrival of the request in nanoseconds since 1970; it stays the same after a takeover. */
  received_at: bigint
  pricing: Pricing
  /** The batch's trace records by trace id; observations inherit from them. */
  traces: Map<string, TraceRecord>
  conversations: Map<string, Conversation>
  drafts: IngestRecords
}

type Conversation = ReturnType<typeof conversationIdFrom>

/** Returns the columns of a conversation that a client named; its hash is computed once a batch. */
export function conversationOf(context: DraftContext, named: string): Conversation {
  if (named === '') return noConversation
  const known = context.conversations.get(named)
  if (known !== undefined) return known
  const made = conversationIdFrom(context.project_id, named)
  context.conversations.set(named, made)
  return made
}

const noConversation: Conversation = { conversation_id: '', external_id: null }

/** Returns an optional text, empty when absent. */
export function orEmpty<Value extends string>(value: Value | null | undefined): Value | '' {
  return value ?? ''
}

/** Formats content for storage: text as it is, other JSON as JSON text, and empty when absent. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

const none: TextPairs = []

/** Formats labels for storage; leaves out those that are null. */
export function toPairs(labels: Readonly<Record<string, unknown>> | null | undefined): TextPairs {
  if (labels === null || labels === undefined) return none
  const pairs: Text[] = []
  for (const key of Object.keys(labels)) {
    const value = labels[key]
    if (value !== null) pairs.push(key, textOf(value))
  }
  return pairs
}

/** Adds the correlations of the W3C fields of a record. */
export function addW3c(
  context: DraftContext,
  fields: Parameters<typeof eachW3cValue>[0],
  owner: { trace_id: string; observation_id: string; time: bigint },
): void {
  if (!(fields.traceparent || fields.tracestate || fields.baggage)) return
  eachW3cValue(fields, (correlation_type, correlation_value) => {
    context.drafts.correlations.push({
      project_id: context.project_id,
      trace_id: owner.trace_id,
      observation_id: owner.observation_id,
      correlation_type,
      correlation_value,
      time: owner.time,
      source: 'api',
      metadata: none,
    })
  })
}
