import type { Alignment } from './align-histories.ts'
import type { HistoryBreak } from './contract.ts'
import type { Head } from './heads.ts'
import type { HistoryMessage } from './read-messages.ts'
import type { RunState } from './run-state.ts'

/**
 * Names the change of a partly kept history: a break in its thread, or `branch` if its end was
 * replaced, for example by a user who edited a message.
 */
export function nameBreak(
  state: RunState,
  head: Head,
  { aligned, messages }: { aligned: Alignment; messages: readonly HistoryMessage[] },
): HistoryBreak['kind'] | 'branch' {
  const { lost, inserted, last_kept } = aligned
  const put = inserted.map((index) => messages[index])
  const isEndGone = lost.some((place) => place > last_kept)
  if (isEndGone) {
    const trailing = messages.slice(messages.length - aligned.trailing)
    if ([...put, ...trailing].some((message) => isSummary(message))) return 'compacted'
    return head.is_ok || aligned.trailing === 0 ? 'branch' : 'edited'
  }
  if (lost.length === 0) return 'edited'
  const first = head.systems
  if (lost.every((place) => place < first)) return 'edited'
  if (put.length === 0) return isOnlyEnd(head, lost) ? 'edited' : 'truncated'
  return nameReplacement(put, countChars(state, head, lost))
}

/**
 * Tells whether only a few messages at the end are missing, such as reminders sent with one call.
 */
function isOnlyEnd({ digests }: Head, lost: readonly number[]): boolean {
  const from = digests.length - lost.length
  return lost.length <= reminders_max && lost.every((place) => place >= from)
}

const reminders_max = 2

/** Counts the characters of the messages as kept. */
function countChars(state: RunState, head: Head, places: readonly number[]): number {
  return places.reduce((sum, place) => {
    const message = state.messages[head.ids[place] ?? -1]
    return sum + (message?.text.length ?? 0)
  }, 0)
}

function nameReplacement(
  put: readonly (HistoryMessage | undefined)[],
  lostChars: number,
): HistoryBreak['kind'] {
  if (put.some(isSummary)) return 'compacted'
  const texts = put.map((message) => message?.text ?? '')
  const chars = texts.reduce((sum, text) => sum + text.length, 0)
  if (texts.every((text) => placeholder.test(text.slice(0, placeholder_chars_max)))) {
    return chars < lostChars ? 'truncated' : 'edited'
  }
  return chars * 2 <= lostChars ? 'compacted' : 'edited'
}

const placeholder_chars_max = 200
const placeholder =
  /\b(?:removed|omitted|cleared|truncated|elided|deleted|trimmed|pruned|hidden)\b/i

/**
 * Tells whether a message is a client's summary of earlier messages; a request for a summary starts
 * with other words.
 */
export function isSummary(message: HistoryMessage | undefined): boolean {
  if (message === undefined || message.calls.length > 0 || message.role === 'tool') return false
  const text = message.text.slice(0, summary_chars_max)
  return (summaryHead.test(text) && !request.test(text)) || summaryWords.test(text)
}

const summary_chars_max = 600
const summaryHead = /^[^\n]{0,60}\bsummary\b/i
const request =
  /^\W{0,4}(?:please|can|could|would|now|write|give|create|make|provide|add|produce|generate|i)\b/i
const summaryWords =
  /\b(?:conversation|discussion|history|context) (?:was|has been|is) (?:summari[sz]ed|compacted|condensed)\b|\b(?:conversation|discussion|progress|happened|work done) so far\b|\b(?:continued from a|continues an?) (?:previous|earlier|prior)\b|\bsummary of (?:the|our|earlier|previous) (?:conversation|discussion|session|work|progress|messages)\b/i

/** Tells whether a message restates the lost messages: it repeats most of their words. */
export function isRestated(state: RunState, head: Head, message: HistoryMessage): boolean {
  if (message.role === 'tool' || message.role === 'system') return false
  const words = readWords(message.text.slice(0, restated_chars_max))
  if (words.size < restatedWords_min) return false
  const lost = new Set<string>()
  for (const id of head.ids.slice(head.systems).slice(-restatedMessages_max)) {
    const text = state.messages[id]?.text.slice(0, restated_chars_max) ?? ''
    for (const word of readWords(text)) lost.add(word)
  }
  const known = [...words].filter((word) => lost.has(word)).length
  return known >= words.size * restatedShare_min
}

const restated_chars_max = 2_000
const restatedMessages_max = 200
const restatedWords_min = 8
const restatedShare_min = 0.5

function readWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\d]{4,40}/gu))
}
