import { conversationIdFrom } from '../../../kernel/ids.ts'
import type { IngestRecords, Text, TextPairs } from '../../../model/ingest-records.ts'
import type { Pricing } from '../../records/pricing/index.ts'
import type { TraceRecord } from '../../records/schema/index.ts'
import { eachW3cValue } from './w3c-context.ts'

/** What the drafts of one batch are made with and put into. */
export type DraftContext = {
  project_id: string
  /** When the request came in, in nanoseconds since 1970: the same when it is taken over. */
  received_at: bigint
  pricing: Pricing
  /** The batch's trace records by trace id; observations inherit from them. */
  traces: Map<string, TraceRecord>
  conversations: Map<string, Conversation>
  drafts: IngestRecords
}

type Conversation = ReturnType<typeof conversationIdFrom>

/** The columns of a conversation that a client named; the hash behind them is made once a batch. */
export function conversationOf(context: DraftContext, named: string): Conversation {
  if (named === '') return noConversation
  const known = context.conversations.get(named)
  if (known !== undefined) return known
  const made = conversationIdFrom(context.project_id, named)
  context.conversations.set(named, made)
  return made
}

const noConversation: Conversation = { conversation_id: '', external_id: null }

/** A text that may be left out; what is not known is empty. */
export function shown<Value extends string>(value: Value | null | undefined): Value | '' {
  return value ?? ''
}

/** Content as it is stored: text stays text, other JSON is JSON text, nothing is empty. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

const none: TextPairs = []

/** Labels as they are stored; one that is null is left out. */
export function pairsOf(labels: Readonly<Record<string, unknown>> | null | undefined): TextPairs {
  if (labels === null || labels === undefined) return none
  const pairs: Text[] = []
  for (const key of Object.keys(labels)) {
    const value = labels[key]
    if (value !== null) pairs.push(key, textOf(value))
  }
  return pairs
}

/** Adds the correlations of what a record says of its place in W3C's world. */
export function addW3c(
  context: DraftContext,
  fields: Parameters<typeof eachW3cValue>[0],
  about: { trace_id: string; observation_id: string; time: bigint },
): void {
  if (!(fields.traceparent || fields.tracestate || fields.baggage)) return
  eachW3cValue(fields, (correlation_type, correlation_value) => {
    context.drafts.correlations.push({
      project_id: context.project_id,
      trace_id: about.trace_id,
      observation_id: about.observation_id,
      correlation_type,
      correlation_value,
      time: about.time,
      source: 'api',
      metadata: none,
    })
  })
}
