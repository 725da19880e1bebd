import {
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { endsStream } from './bodies.ts'

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
