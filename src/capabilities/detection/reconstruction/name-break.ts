import type { Alignment } from './align-histories.ts'
import type { HistoryBreak } from './contract.ts'
import type { Head } from './heads.ts'
import type { ToldMessage } from './read-messages.ts'
import type { RunState } from './run-state.ts'

/**
 * What became of a history of which something was kept: a break in its thread, or `branch` when its
 * end was taken back, as by a user who changed what they said.
 */
export function nameBreak(
  state: RunState,
  head: Head,
  { aligned, messages }: { aligned: Alignment; messages: readonly ToldMessage[] },
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
  return replacedBy(put, charsOf(state, head, lost))
}

/** A reminder that stood at the end of one call only. */
function isOnlyEnd({ digests }: Head, lost: readonly number[]): boolean {
  const from = digests.length - lost.length
  return lost.length <= reminders_max && lost.every((place) => place >= from)
}

const reminders_max = 2

/** How many characters the messages have as they are held. */
function charsOf(state: RunState, head: Head, places: readonly number[]): number {
  return places.reduce((sum, place) => {
    const message = state.messages[head.ids[place] ?? -1]
    return sum + (message?.text.length ?? 0)
  }, 0)
}

function replacedBy(
  put: readonly (ToldMessage | undefined)[],
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

/** What clients write over a summary of what was said before; who asks for one writes otherwise. */
export function isSummary(message: ToldMessage | undefined): boolean {
  if (message === undefined || message.calls.length > 0 || message.role === 'tool') return false
  const text = message.text.slice(0, summary_chars_max)
  return (summaryHead.test(text) && !request.test(text)) || summaryWords.test(text)
}

const summary_chars_max = 600
const summaryHead = /^[^\n]{0,60}\bsummary\b/i
const request = /^\W{0,4}(?:please|can|could|would|now|write|give|create|make|provide|add|produce|generate|i)\b/i
const summaryWords =
  /\b(?:conversation|discussion|history|context) (?:was|has been|is) (?:summari[sz]ed|compacted|condensed)\b|\b(?:conversation|discussion|progress|happened|work done) so far\b|\bcontinued from a previous\b|\bsummary of (?:the|our|earlier|previous) (?:conversation|discussion|session|work|progress|messages)\b/i
