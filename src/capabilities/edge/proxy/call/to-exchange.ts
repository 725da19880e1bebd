import {
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { Exchange, ExchangeFacts } from '../../../../model/exchange.ts'
import { type Endpoint, isRecorded, isRetrieval } from '../formats.ts'
import { endsStream, noBytes, type RequestBody } from './bodies.ts'
import { type CallResult, recordedBody, redactKey, toExchangeFacts } from './call-record.ts'

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

/** A response that still runs is short; a longer one counts as final, unread. */
const maxRunningResponseBytes = 256 * 1024
/** The records of calls are joined for a day; an older response was recorded before, or elsewhere. */
const age_s_max = 24 * 60 * 60

const running: ReadonlySet<string> = new Set(['queued', 'in_progress'])
const runningStatus = /"status":\s*"(?:queued|in_progress)"/

/**
 * Returns whether the answer to a retrieval is the end of a response of the last day: only that is
 * recorded. A poll of work that still runs is not a call. `isStreamEnded`: the stream has its last
 * event.
 */
export function isFinal(
  answer: Uint8Array,
  facts: Pick<ExchangeFacts, 'endpoint' | 'outcome' | 'streamed' | 'start_time' | 'content_state'>,
  isStreamEnded: boolean,
): boolean {
  if (facts.outcome !== 'complete') return false
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
  const isCut = facts.content_state === 'truncated'
  const isReadable = !facts.streamed && !isCut && bytes.length <= maxRunningResponseBytes
  const body = isReadable ? objectFrom(parsedJson(bytes.toString('utf8'))) : undefined
  if (isReadable) {
    const status = textFrom(body?.['status'])
    if (status === '' || running.has(status)) return false
  } else if (!isEnd(bytes, { isCut, isStream: facts.streamed, isStreamEnded })) return false
  const created_s = createdAt(facts.endpoint, body ?? bytes)
  return !(Number(facts.start_time.slice(0, -9)) - created_s > age_s_max)
}

/** Returns whether a stream, or an answer that is too long or cut to be parsed, is that of finished work. */
function isEnd(
  bytes: Buffer,
  { isCut, isStream, isStreamEnded }: { isCut: boolean; isStream: boolean; isStreamEnded: boolean },
): boolean {
  // The last event of a stream that was cut may be longer than the end that was kept.
  if (isStream) return isStreamEnded || isCut || hasLongLastEvent(bytes)
  if (bytes.length > maxRunningResponseBytes) return true
  return !runningStatus.test(bytes.toString('latin1'))
}

/** Returns whether the last event, whose line can be of any length, ends a stream of Responses. */
function hasLongLastEvent(bytes: Buffer): boolean {
  const start = bytes.lastIndexOf('\nevent:')
  return start !== -1 && endsStream(bytes.subarray(start + 1), 'response_end')
}

/**
 * Returns when the provider began a response, in seconds since 1970; NaN where the answer does not
 * tell. In bytes, it is the first member with that name: a quote inside a text has a backslash.
 */
function createdAt(endpoint: ExchangeFacts['endpoint'], answer: JsonObject | Buffer): number {
  const isInteraction = endpoint === 'interactions.retrieve'
  const name = isInteraction ? 'created' : 'created_at'
  const value = Buffer.isBuffer(answer) ? findMember(answer, name) : answer[name]
  return isInteraction ? Date.parse(textFrom(value)) / 1000 : Number(value ?? Number.NaN)
}

/** Longer than a name with its instant. */
const member_bytes_max = 128

function findMember(bytes: Buffer, name: string): string | undefined {
  const start = bytes.indexOf(`"${name}":`)
  if (start === -1) return undefined
  const text = bytes.toString('latin1', start, start + member_bytes_max)
  return /^"\w+":\s*(?:"([^"]*)"|([\d.]+))/.exec(text)?.slice(1).find(Boolean)
}
