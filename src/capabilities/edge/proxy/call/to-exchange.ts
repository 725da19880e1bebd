import type { Exchange } from '../../../../model/exchange.ts'
import { type Endpoint, isRecorded, isRetrieval } from '../formats.ts'
import { noBytes, type RequestBody } from './bodies.ts'
import { type CallResult, recordedBody, redactKey, toExchangeFacts } from './call-record.ts'
import { isFinal } from './final-response.ts'

/** A call at its end, with its whole request. */
type EndedCall = Parameters<typeof toExchangeFacts>[0] & {
  readonly endpoint: Endpoint
  readonly headers: { readonly content_type: string }
  readonly target: { readonly provider_key: string }
  readonly body: RequestBody
}

type Result = Omit<CallResult, 'endpoint' | 'isRequestCaptured'> & {
  /** Status of the answer to the client. */
  status_code: number
  /** Maximum bytes of a request that is recorded. */
  request_bytes_max: number
}

/** Returns the record of a call, or undefined for a call that is not recorded. Empties its answer. */
export function toExchange(call: EndedCall, result: Result): Exchange | undefined {
  const { endpoint, body } = call
  if (!isRecorded(endpoint)) return undefined
  const { answer } = result
  const isRequestCaptured = body.isCaptured(result.request_bytes_max)
  const facts = toExchangeFacts(call, { ...result, endpoint, isRequestCaptured })
  const isStreamEnded = answer?.hasStreamEnd(endpoint) ?? false
  const asked = isRequestCaptured ? body.received() : noBytes
  const request = recordedBody(asked, endpoint, call.headers.content_type)
  const answered = answer?.body?.take() ?? noBytes
  const kept = recordedBody(answered, endpoint, facts.response_type)
  const response = redactKey(kept, call.target.provider_key, {
    failed: result.status_code >= 400,
    streamed: facts.streamed,
  })
  const isPoll = isRetrieval(endpoint) && !isFinal(response, facts, isStreamEnded)
  return isPoll ? undefined : { facts, request, response }
}
