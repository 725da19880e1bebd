import { type Problem, problem } from '../../../../kernel/problem.ts'
import {
  type ExchangeFacts,
  hasEnvelopeOnly,
  malformedAnswer,
  malformedReason,
} from '../../../../model/exchange.ts'
import type { Outcome } from '../../../../model/observation.ts'
import type { Ending, ProjectKey } from '../contract.ts'
import { type Endpoint, isPassed, isRecorded } from '../formats.ts'
import { readAgentHeaders } from './agent-headers.ts'
import { noBytes, type ProviderAnswer } from './bodies.ts'
import type { CallContext, RequestHeaders } from './request-headers.ts'

/** Maximum characters kept of each trace header. */
const traceparent_characters_max = 256
const tracestate_characters_max = 512
const baggage_characters_max = 8_192
const maxRequestIdChars = 256

/** The parts of a call that are known at its start. */
type RecordedCall = Pick<ExchangeFacts, 'trace_id' | 'observation_id' | 'parent_observation_id'> &
  Required<Pick<ExchangeFacts, 'ingest_request_id'>> & {
    readonly headers: Pick<RequestHeaders, 'traceparent' | 'tracestate' | 'baggage' | 'agent'>
    readonly target: { readonly model: string }
    readonly start_ms: number
    readonly body: { readonly bytes: number; readonly isComplete: boolean }
  }

/** The parts of a call that are known at its end. */
export type CallResult = {
  endpoint: ExchangeFacts['endpoint']
  key: ProjectKey
  context: CallContext
  /** Empty when the call was refused before its provider was known. */
  provider: string
  /** Undefined when the provider was never called. */
  answer: ProviderAnswer | undefined
  /** False when the record leaves out the request's body. */
  isRequestCaptured: boolean
  ending: Ending
  /** Milliseconds from the start of the call to its end. */
  ended_ms: number
}

/** Returns the facts of a finished call for its record, as the worker reads them. */
export function toExchangeFacts(call: RecordedCall, result: CallResult): ExchangeFacts {
  const { key, context, answer, ending } = result
  const agent_headers = readAgentHeaders(call.headers.agent)
  const facts: ExchangeFacts = {
    ingest_request_id: call.ingest_request_id,
    project_id: key.project_id,
    key_id: key.key_id,
    trace_id: call.trace_id,
    observation_id: call.observation_id,
    parent_observation_id: call.parent_observation_id,
    endpoint: result.endpoint,
    provider: result.provider,
    start_time: formatNs(call.start_ms),
    end_time: formatNs(call.start_ms + result.ended_ms),
    first_token_time: firstTokenTime(call.start_ms, answer),
    outcome: ending.outcome,
    status_code: ending.status_code,
    error_type: ending.error_type,
    error_message: ending.error_message,
    streamed: answer?.isStream ?? false,
    usage_requested_by_us: answer?.isUsageOurs ?? false,
    request_bytes: call.body.bytes,
    response_bytes: answer?.body?.bytes ?? 0,
    response_encoding: answer?.content_encoding ?? '',
    response_type: answer?.content_type ?? '',
    content_state: contentState(call, result),
    task_id: context.task_id,
    task_name: context.task_name,
    conversation_id: context.conversation_id,
    user_id: context.user_id,
    environment: key.environment ?? '',
    release: context.release,
    attributes: attributesOf(call.headers, answer?.request_id ?? ''),
  }
  if (call.target.model !== '') facts.path_model = call.target.model
  if (agent_headers !== undefined) facts.agent_headers = agent_headers
  if (key.task_rules_off !== undefined) facts.task_rules_off = key.task_rules_off
  return facts
}

/**
 * Formats milliseconds with fractions as nanoseconds. A double holds today's microseconds exactly.
 * Seconds and microseconds are formatted separately, because small integers cost a third.
 */
export function formatNs(instant_ms: number): string {
  const at_s = Math.floor(instant_ms / 1000)
  const below_us = Math.floor((instant_ms - at_s * 1000) * 1000)
  return `${at_s}${String(1_000_000 + below_us).slice(1)}000`
}

/** A longer body is not read for the model, usage and ids that it may name. */
const maxReadBodyBytes = 256 * 1024

/**
 * Returns the part of a body that is recorded: of an endpoint without content, only JSON from which
 * the worker reads model, usage and ids. No file, image or sound is kept.
 */
export function recordedBody(body: Buffer, endpoint: Endpoint, content_type: string): Buffer {
  if (!hasEnvelopeOnly(endpoint)) return body
  const isJson = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(content_type)
  return isJson && body.length <= maxReadBodyBytes ? body : noBytes
}

/** Only a stream has a first token; any other answer arrives as a whole. */
function firstTokenTime(start_ms: number, answer: ProviderAnswer | undefined): string | null {
  if (!answer?.isStream || answer.firstByteMs === undefined) return null
  return formatNs(start_ms + answer.firstByteMs)
}

function contentState(call: RecordedCall, result: CallResult): ExchangeFacts['content_state'] {
  if (hasEnvelopeOnly(result.endpoint)) return 'none'
  if (!result.isRequestCaptured) return 'dropped'
  return !call.body.isComplete || result.answer?.body?.truncated ? 'truncated' : 'full'
}

function attributesOf(
  { traceparent, tracestate, baggage }: RecordedCall['headers'],
  provider_request_id: string,
): Record<string, string> {
  const attributes: Record<string, string> = {}
  if (traceparent) attributes['w3c.traceparent'] = traceparent.slice(0, traceparent_characters_max)
  if (tracestate) attributes['w3c.tracestate'] = tracestate.slice(0, tracestate_characters_max)
  if (baggage) attributes['w3c.baggage'] = baggage.slice(0, baggage_characters_max)
  if (provider_request_id) {
    attributes['provider.request_id'] = provider_request_id.slice(0, maxRequestIdChars)
  }
  return attributes
}

/** A shorter text is not a provider key, and could be a word of the answer. */
const key_characters_min = 12
/** Bytes searched at the end of a stream, where errors appear; this keeps the cost at 1 µs. */
const streamTailBytes = 4_096

const redacted = Buffer.from('[redacted]')

/** Decides how much of an answer is searched. */
type AnswerKind = { failed: boolean; streamed: boolean }

/**
 * Returns the recorded copy of an answer without the caller's provider key, because providers
 * repeat a wrong key in their errors. Searches an error completely and a stream at its end; returns
 * any other answer unchanged.
 */
export function redactKey(answer: Buffer, key: string, kind: AnswerKind): Buffer {
  if (!kind.failed && !kind.streamed) return answer
  if (key.length < key_characters_min) return answer
  const from = kind.failed ? 0 : Math.max(0, answer.length - streamTailBytes)
  const parts: Buffer[] = []
  let kept = 0
  for (let at = answer.indexOf(key, from, 'latin1'); at !== -1; ) {
    parts.push(answer.subarray(kept, at), redacted)
    kept = at + key.length
    at = answer.indexOf(key, kept, 'latin1')
  }
  return parts.length === 0 ? answer : Buffer.concat([...parts, answer.subarray(kept)])
}

/** Returns the ending of a call whose client left; `status_code` is 0 before a head was sent. */
export function clientGoneEnding(
  status_code: number,
  body: RecordedCall['body'],
  answer: ProviderAnswer | undefined,
): Ending {
  return {
    outcome: 'client_gone',
    status_code: status_code === 0 ? 499 : status_code,
    error_type: 'client_gone',
    error_message: `the client closed the connection ${describePhase(body, answer)}`,
  }
}

function describePhase(body: RecordedCall['body'], answer: ProviderAnswer | undefined): string {
  if (!body.isComplete) return 'while it sent the body'
  return (answer?.body?.bytes ?? 0) === 0
    ? 'before the first byte of the answer'
    : 'in the middle of the answer'
}

/** Returns the ending of a call whose answer arrived completely. */
export function complete(status_code: number): Ending {
  return { outcome: 'complete', status_code, error_type: '', error_message: '' }
}

/**
 * Returns the ending of a call whose provider sent its whole answer: an error by its status, or by
 * what cannot be an answer of a model. Files may be of any kind, and a deletion has no body.
 */
export function answeredEnding(answer: ProviderAnswer, endpoint: Endpoint): Ending {
  const { status_code, content_type: response_type } = answer
  if (status_code >= 400) {
    const error_type = String(status_code)
    return { outcome: 'provider_error', status_code, error_type, error_message: '' }
  }
  if (isPassed(endpoint) && !isRecorded(endpoint)) return complete(status_code)
  const response_bytes = answer.body?.bytes ?? 0
  const error_message = malformedReason({ status_code, response_bytes, response_type })
  if (error_message === undefined) return complete(status_code)
  return { outcome: 'provider_error', status_code, error_type: malformedAnswer, error_message }
}

/** Returns true when the provider's answer arrived, even if it is an error. */
export function hasAnswer({ outcome }: Ending): boolean {
  return outcome === 'complete' || outcome === 'provider_error'
}

/** Returns the ending that an error of Looptrace causes. */
export function endingFrom(outcome: Outcome, fault: Problem): Ending {
  return {
    outcome,
    status_code: fault.status,
    error_type: fault.code,
    error_message: fault.message,
  }
}

/** The ending of a call that closed without one, a fault of Looptrace. */
export const unknownEnding = endingFrom('refused', problem('internal_error'))
