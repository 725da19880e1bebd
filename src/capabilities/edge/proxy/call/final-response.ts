import { objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'

/** A response that still runs is short; a longer one counts as final, unread. */
const runningResponse_bytes_max = 256 * 1024
/** The records of calls are joined for a day; an older response was recorded before, or elsewhere. */
const age_s_max = 24 * 60 * 60

const running: ReadonlySet<string> = new Set(['queued', 'in_progress'])

/**
 * Returns whether the answer to a retrieval is the end of a response: only that is recorded. A poll of
 * work that still runs is not a call. `isStreamEnded`: the stream has its last event.
 */
export function isFinal(
  answer: Uint8Array,
  facts: Pick<ExchangeFacts, 'outcome' | 'streamed' | 'start_time'>,
  isStreamEnded: boolean,
): boolean {
  if (facts.outcome !== 'complete') return false
  if (facts.streamed) return isStreamEnded
  if (answer.length > runningResponse_bytes_max) return true
  const body = objectFrom(parsedJson(Buffer.from(answer).toString('utf8')))
  const status = textFrom(body?.['status'])
  if (status === '' || running.has(status)) return false
  const created_s = Number(body?.['created_at'] ?? Number.NaN)
  return !(Number(facts.start_time.slice(0, -9)) - created_s > age_s_max)
}
