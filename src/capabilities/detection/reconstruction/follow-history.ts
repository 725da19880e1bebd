import { parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import { countPrefix } from './align-histories.ts'
import { breakOrStart } from './break-history.ts'
import { continueHead, type FollowedHistory, followLane } from './continue-history.ts'
import type { Head } from './heads.ts'
import { type HistoryMessage, readMessages } from './read-messages.ts'
import type { RunState } from './run-state.ts'

/**
 * Finds the thread that a call continues. A history that only grew starts with the exact text sent
 * before, except for its last bracket, so only the rest is parsed. Other histories are compared
 * message by message.
 */
export function followHistory(state: RunState, row: Observation, call: number): FollowedHistory {
  if (row.input === '') return followLane(state, row)
  const raw = toRawList(row.input)
  const longest = raw === undefined ? undefined : findLongestText(state.heads, raw)
  if (raw !== undefined && longest?.raw !== undefined) {
    const rest = cutSent(raw, longest.raw)
    const fresh = rest === '' ? [] : readMessages(parsedJson(rest), 'user')
    return continueHead(state, longest, { row, raw, fresh, call })
  }
  const messages = parseMessages(row)
  if (messages === undefined) return followLane(state, row)
  const whole = { row, raw, fresh: messages, call }
  const compared = findLongestPrefix(state.heads, messages)
  if (compared !== undefined) {
    return continueHead(state, compared, { ...whole, fresh: messages.slice(compared.ids.length) })
  }
  return breakOrStart(state, whole)
}

/** Returns the text if it is a plain list of messages, which can be compared as text. */
function toRawList(input: string): string | undefined {
  return input.startsWith('[{') && input.endsWith('}]') ? input : undefined
}

/** Undefined for a text that was cut and cannot be parsed. */
function parseMessages({ input, content_state }: Observation): HistoryMessage[] | undefined {
  const isJson = input[0] === '[' || input[0] === '{' || input[0] === '"'
  const value = isJson ? parsedJson(input) : undefined
  if (value === undefined && content_state === 'truncated') return undefined
  return readMessages(value ?? input, 'user')
}

function findLongestText(heads: readonly Head[], raw: string): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const length = head.raw?.length ?? 0
    if (head.raw === undefined || length < (longest?.raw?.length ?? 0)) continue
    if (isContinued(raw, head.raw)) longest = head
  }
  return longest
}

function isContinued(raw: string, sent: string): boolean {
  const end = sent.length - 1
  if (raw.length < sent.length) return false
  const next = raw[end]
  if (next !== ',' && (next !== ']' || raw.length > sent.length)) return false
  // Comparing two slices compares memory; startsWith compares character by character.
  return raw.slice(0, end) === sent.slice(0, end)
}

/** Returns the messages after the ones sent before, as a JSON list. */
function cutSent(raw: string, sent: string): string {
  return raw.length === sent.length ? '' : `[${raw.slice(sent.length)}`
}

function findLongestPrefix(
  heads: readonly Head[],
  messages: readonly HistoryMessage[],
): Head | undefined {
  let longest: Head | undefined
  for (const head of heads) {
    const { length } = head.digests
    if (length === 0 || length > messages.length || length < (longest?.ids.length ?? 0)) continue
    // Most different histories already differ in the last message.
    if (head.digests[length - 1] !== messages[length - 1]?.digest) continue
    if (countPrefix(head.digests, messages) === length) longest = head
  }
  return longest
}
