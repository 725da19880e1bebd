import type { Problem } from '../../../../kernel/problem.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { Outcome } from '../../../../model/observation.ts'
import type { ProjectKey } from '../contract.ts'
import type { BodyCapture } from '../relay/provider-answer.ts'
import type { CallContext, RequestHeaders } from './request-headers.ts'

/** Trace headers are kept up to so many characters each. */
const traceparent_characters_max = 256
const tracestate_characters_max = 512
const baggage_characters_max = 8_192
const requestId_characters_max = 256

/** What a record says of a call beside how it ended. */
type RecordedCall = Pick<
  ExchangeFacts,
  'trace_id' | 'observation_id' | 'parent_observation_id' | 'endpoint' | 'streamed'
> &
  Required<Pick<ExchangeFacts, 'ingest_request_id'>> &
  Pick<ExchangeFacts, 'response_type' | 'response_encoding'> & {
    readonly upstream: { readonly provider: string } | undefined
    readonly headers: Pick<RequestHeaders, 'traceparent' | 'tracestate' | 'baggage'>
    readonly context: CallContext
    readonly capture: Pick<BodyCapture, 'bytes' | 'truncated'> | undefined
    readonly start_ms: number
    /** Since the start; undefined when no byte of a good answer came. */
    readonly firstToken_ms: number | undefined
    readonly requestBytes: number
    readonly requestComplete: boolean
    readonly requestIsCaptured: boolean
    readonly usageRequestedByUs: boolean
    readonly provider_request_id: string
  }

/** The record of a call that has ended, as the worker reads it. */
export function factsOf(
  call: RecordedCall,
  key: ProjectKey,
  ending: Ending & { ended_ms: number },
): ExchangeFacts {
  const { capture, context } = call
  return {
    ingest_request_id: call.ingest_request_id,
    project_id: key.project_id,
    trace_id: call.trace_id,
    observation_id: call.observation_id,
    parent_observation_id: call.parent_observation_id,
    endpoint: call.endpoint,
    provider: call.upstream?.provider ?? '',
    start_time: nsText(call.start_ms),
    end_time: nsText(call.start_ms + ending.ended_ms),
    first_token_time: firstTokenTime(call),
    outcome: ending.outcome,
    status_code: ending.status_code,
    error_type: ending.error_type,
    error_message: ending.error_message,
    streamed: call.streamed,
    usage_requested_by_us: call.usageRequestedByUs,
    request_bytes: call.requestBytes,
    response_bytes: capture?.bytes ?? 0,
    response_encoding: call.response_encoding,
    response_type: call.response_type,
    content_state: contentState(call),
    task_id: context.task_id,
    task_name: context.task_name,
    conversation_id: context.conversation_id,
    user_id: context.user_id,
    environment: key.environment ?? '',
    release: '',
    attributes: attributesOf(call),
  }
}

/** True when this content type is that of a stream of events. */
export function isEventStream(content_type: string): boolean {
  return content_type.startsWith('text/event-stream') || /^text\/event-stream/i.test(content_type)
}

/**
 * Milliseconds with fractions as nanoseconds; a double holds today's microseconds exactly. Seconds
 * and microseconds are written apart: as small integers they cost a third.
 */
export function nsText(instant_ms: number): string {
  const at_s = Math.floor(instant_ms / 1000)
  const below_us = Math.floor((instant_ms - at_s * 1000) * 1000)
  return `${at_s}${String(1_000_000 + below_us).slice(1)}000`
}

/** An answer that is not streamed has no first token that anybody could have read. */
function firstTokenTime({ streamed, start_ms, firstToken_ms }: RecordedCall): string | null {
  return streamed && firstToken_ms !== undefined ? nsText(start_ms + firstToken_ms) : null
}

function contentState(call: RecordedCall): ExchangeFacts['content_state'] {
  if (!call.requestIsCaptured) return 'dropped'
  return !call.requestComplete || call.capture?.truncated ? 'truncated' : 'full'
}

function attributesOf(call: RecordedCall): Record<string, string> {
  const attributes: Record<string, string> = {}
  const { traceparent, tracestate, baggage } = call.headers
  if (traceparent) attributes['w3c.traceparent'] = traceparent.slice(0, traceparent_characters_max)
  if (tracestate) attributes['w3c.tracestate'] = tracestate.slice(0, tracestate_characters_max)
  if (baggage) attributes['w3c.baggage'] = baggage.slice(0, baggage_characters_max)
  const { provider_request_id } = call
  if (provider_request_id) {
    attributes['provider.request_id'] = provider_request_id.slice(0, requestId_characters_max)
  }
  return attributes
}

/** A shorter one is no key of any provider, and may be a word of the answer. */
const key_characters_min = 12
/** In a stream an error stands at the end; only that is searched, so that a stream costs 1 µs. */
const streamTail_bytes = 4_096

const redacted = Buffer.from('[redacted]')

/** What decides how much of an answer is searched. */
type AnswerKind = { failed: boolean; streamed: boolean }

/**
 * The recorded copy of an answer without the caller's key for the provider: providers repeat a
 * wrong key in their errors. An error is searched whole, a stream at its end; any other answer is
 * no error and is handed back as it is. `authorization` is the header's value.
 */
export function withoutKey(answer: Buffer, authorization: string, kind: AnswerKind): Buffer {
  if (!kind.failed && !kind.streamed) return answer
  const key = authorization.replace(/^bearer +/i, '').trim()
  if (key.length < key_characters_min) return answer
  const from = kind.failed ? 0 : Math.max(0, answer.length - streamTail_bytes)
  const parts: Buffer[] = []
  let kept = 0
  for (let at = answer.indexOf(key, from, 'latin1'); at !== -1; ) {
    parts.push(answer.subarray(kept, at), redacted)
    kept = at + key.length
    at = answer.indexOf(key, kept, 'latin1')
  }
  return parts.length === 0 ? answer : Buffer.concat([...parts, answer.subarray(kept)])
}

/** How a call ended. */
export type Ending = {
  outcome: Outcome
  status_code: number
  error_type: string
  error_message: string
}

/** The provider's answer came whole. */
export function complete(status_code: number): Ending {
  return { outcome: 'complete', status_code, error_type: '', error_message: '' }
}

/** True when the provider had its say, whatever it said. */
export function endedWell({ outcome }: Ending): boolean {
  return outcome === 'complete' || outcome === 'provider_error'
}

/** The ending that an error of ours makes. */
export function endingOf(outcome: Outcome, fault: Problem): Ending {
  return {
    outcome,
    status_code: fault.status,
    error_type: fault.code,
    error_message: fault.message,
  }
}
