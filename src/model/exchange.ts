import type { Outcome } from './observation.ts'
import type { TaskRule } from './task-rules.ts'

/** The wire formats of calls, by the names of their endpoints. */
export const exchangeEndpoints = [
  'chat.completions',
  'completions',
  'responses',
  'responses.retrieve',
  'responses.compact',
  'responses.count_tokens',
  'messages',
  'messages.count_tokens',
  'generate_content',
  'generate_content.count_tokens',
  'interactions',
  'interactions.retrieve',
  'embeddings',
  'images',
  'audio',
  'rerank',
  'moderations',
] as const

/** The endpoints of which a record has the envelope only, and no content. */
const envelopeEndpoints: ReadonlySet<string> = new Set(['images', 'audio', 'rerank', 'moderations'])

/** Returns whether the record of a call has the envelope only. */
export function hasEnvelopeOnly(endpoint: string): boolean {
  return envelopeEndpoints.has(endpoint)
}

/**
 * Facts that the proxy has about a call when it ends, before any parsing. The worker turns them
 * into an observation. Times are nanoseconds since 1970. The raw bodies are separate.
 */
export type ExchangeFacts = {
  /** UUID of the call's receipt. Missing from older versions of the proxy. */
  ingest_request_id?: string
  project_id: string
  trace_id: string
  observation_id: string
  parent_observation_id: string
  endpoint: (typeof exchangeEndpoints)[number]
  /** The model that the path names, for a format whose body names none. Absent otherwise. */
  path_model?: string
  provider: string
  /** Nanoseconds since 1970 as decimal text: JSON has no 64-bit integers. */
  start_time: string
  end_time: string
  /** Arrival of the first byte of streamed content from the provider; null if none arrived. */
  first_token_time: string | null
  outcome: Outcome
  /** Status for the client; 499 when the client left before it got one. */
  status_code: number
  error_type: string
  error_message: string
  streamed: boolean
  /** True when Looptrace requested the usage chunk; the client does not receive it. */
  usage_requested_by_us: boolean
  request_bytes: number
  response_bytes: number
  /** `content-encoding` and `content-type` of the provider's answer, as sent. */
  response_encoding: string
  response_type: string
  /** `none`: content of this endpoint is never recorded. */
  content_state: 'full' | 'truncated' | 'dropped' | 'none'
  task_id: string
  task_name: string
  conversation_id: string
  /** The project key of the call. Missing from older versions of the proxy. */
  key_id?: string
  /** Headers in which the client's agent names its session, by lower-case name. */
  agent_headers?: Readonly<Record<string, string>>
  /** Rules for sessions and tasks that the project has switched off. */
  task_rules_off?: readonly TaskRule[]
  user_id: string
  environment: string
  release: string
  /** `w3c.traceparent`, `w3c.tracestate`, `w3c.baggage`, `provider.request_id`. */
  attributes: Record<string, string>
}

/** One call as the edge hands it to the worker. */
export type Exchange = { facts: ExchangeFacts; request: Uint8Array; response: Uint8Array }

/** Error type of an answer whose status is a success, and whose body is not that of a model. */
export const malformedAnswer = 'malformed_answer'

/**
 * Returns why an answer that arrived whole cannot be from a model; undefined for one that may be.
 * Does not look at statuses of errors.
 */
export function malformedReason({
  status_code,
  response_bytes,
  response_type,
}: Pick<ExchangeFacts, 'status_code' | 'response_bytes' | 'response_type'>): string | undefined {
  if (status_code >= 300 && status_code < 400) {
    return `the provider answered with a redirect, status ${status_code}`
  }
  if (response_bytes === 0) return `the provider answered without a body, status ${status_code}`
  const isPage = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(response_type)
  return isPage ? 'the provider answered with a page of HTML' : undefined
}
