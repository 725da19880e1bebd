import type { Outcome } from './observation.ts'

/**
 * What the proxy knows of one call when it ends, before anything is parsed. The worker turns it
 * into an observation. Times are nanoseconds since 1970; the raw bodies travel beside it.
 */
export type ExchangeFacts = {
  /** UUID of the call's receipt; proxies of older versions give none. */
  ingest_request_id?: string
  project_id: string
  trace_id: string
  observation_id: string
  parent_observation_id: string
  endpoint: 'chat.completions' | 'completions'
  provider: string
  /** Nanoseconds since 1970 as decimal text: JSON has no 64-bit integers. */
  start_time: string
  end_time: string
  /** When the first byte of a streamed answer's content came from the provider, if it did. */
  first_token_time: string | null
  outcome: Outcome
  /** The status the client got, or would have got; 499 when it left before any. */
  status_code: number
  error_type: string
  error_message: string
  streamed: boolean
  /** True when we asked for the usage chunk, so the client's copy lacked it. */
  usage_requested_by_us: boolean
  request_bytes: number
  response_bytes: number
  /** `content-encoding` and `content-type` of the provider's answer, as sent. */
  response_encoding: string
  response_type: string
  content_state: 'full' | 'truncated' | 'dropped'
  task_id: string
  task_name: string
  conversation_id: string
  user_id: string
  environment: string
  release: string
  /** `w3c.traceparent`, `w3c.tracestate`, `w3c.baggage`, `provider.request_id`. */
  attributes: Record<string, string>
}

/** One call as it is handed from the edge to the worker. */
export type Exchange = { facts: ExchangeFacts; request: Uint8Array; response: Uint8Array }
