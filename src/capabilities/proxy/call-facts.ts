import type { ExchangeFacts } from '../../model/exchange.ts'
import type { Call, Ending } from './call.ts'
import type { ProjectKey } from './contract.ts'

/** Trace headers are kept up to so many characters each. */
const traceparent_characters_max = 256
const tracestate_characters_max = 512
const baggage_characters_max = 8_192
const requestId_characters_max = 256

/** The record of a call that has ended, as the worker reads it. */
export function factsOf(
  call: Call,
  key: ProjectKey,
  ending: Ending & { ended_ms: number },
): ExchangeFacts {
  const { capture, context } = call
  return {
    project_id: key.project_id,
    trace_id: call.trace_id,
    observation_id: call.observation_id,
    parent_observation_id: call.parent_observation_id,
    endpoint: call.endpoint,
    provider: call.upstream?.provider ?? '',
    start_time: nsText(call.start_ms),
    end_time: nsText(call.start_ms + ending.ended_ms),
    first_token_time:
      call.firstToken_ms === undefined ? null : nsText(call.start_ms + call.firstToken_ms),
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

function contentState(call: Call): ExchangeFacts['content_state'] {
  if (!call.requestIsCaptured) return 'dropped'
  return !call.requestComplete || call.capture?.truncated ? 'truncated' : 'full'
}

function attributesOf(call: Call): Record<string, string> {
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
