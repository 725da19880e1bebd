import type { HistoryBreak } from '../contract.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import type { RunState } from '../run-state.ts'
import { type Head, isAnswer } from './heads.ts'

/** Counts the equal messages at the start of both histories. */
export function countPrefix(
  digests: readonly string[],
  messages: readonly HistoryMessage[],
): number {
  let at = 0
  while (at < digests.length && digests[at] === messages[at]?.digest) at++
  return at
}

/**
 * Alignment of a history with an earlier one. Positions in the earlier history count its answer.
 */
export type Alignment = {
  /** Position of each message in the earlier history; -1 for a new message. */
  at: Int32Array
  prefix: number
  /** Positions of the earlier history that are missing now, except its answer. */
  lost: readonly number[]
  /** New messages in front of a kept message. */
  inserted: readonly number[]
  /** Number of new messages after the last kept message. */
  trailing: number
  /** Last position that was kept; -1 if nothing was kept. */
  last_kept: number
  /** Number of kept messages, except leading system messages. */
  kept: number
}

/**
 * Aligns a history with an earlier one in linear time: first the common prefix, then the messages
 * that occur exactly once in both, in order, then their neighbours.
 */
export function alignHistories(head: Head, messages: readonly HistoryMessage[]): Alignment {
  const { digests } = head
  const prefix = countPrefix(digests, messages)
  const at = new Int32Array(messages.length).fill(-1)
  for (let index = 0; index < prefix; index++) at[index] = index
  if (!alignInPlace(head, messages, { at, prefix })) {
    alignUnique(head, messages, { at, prefix })
  }
  alignNeighbours(head, messages, at)
  return toAlignment(head, at, prefix)
}

type PartialAlignment = { at: Int32Array; prefix: number }

/**
 * Aligns a history in which a few messages were edited in place. Returns false for any other
 * change.
 */
function alignInPlace(
  { digests, answer }: Head,
  messages: readonly HistoryMessage[],
  { at, prefix }: PartialAlignment,
): boolean {
  let differing = 0
  for (let index = prefix; index < digests.length; index++) {
    if (digests[index] !== messages[index]?.digest) differing += 1
    if (differing > edits_max) return false
  }
  const next = messages[digests.length]
  if (next === undefined || !isAnswer(answer, next)) return false
  for (let index = prefix; index < digests.length; index++) {
    if (digests[index] === messages[index]?.digest) at[index] = index
  }
  at[digests.length] = digests.length
  return true
}

/** Maximum messages edited in place. */
const edits_max = 4

function alignUnique(
  head: Head,
  messages: readonly HistoryMessage[],
  { at, prefix }: PartialAlignment,
): void {
  const places = findUnique(head.digests, prefix)
  const reported = findUnique(
    messages.map(({ digest }) => digest),
    prefix,
  )
  const answer = head.digests.length
  let last = prefix - 1
  for (let index = prefix; index < messages.length && last < answer; index++) {
    const message = messages[index]
    if (message === undefined) continue
    const place = reported.has(message.digest) ? (places.get(message.digest) ?? -1) : -1
    if (place > last) last = place
    else if (isAnswer(head.answer, message)) last = answer
    else continue
    at[index] = last
  }
}

/** Returns the positions, from `from` on, of digests that occur exactly once. */
function findUnique(digests: readonly string[], from: number): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  const repeated = new Set<string>()
  for (let index = from; index < digests.length; index++) {
    const digest = digests[index] ?? ''
    if (places.has(digest)) repeated.add(digest)
    places.set(digest, index)
  }
  for (const digest of repeated) places.delete(digest)
  return places
}

function alignNeighbours(head: Head, messages: readonly HistoryMessage[], at: Int32Array): void {
  const used = new Set(at)
  const isSame = (index: number, place: number) =>
    at[index] === -1 &&
    place >= 0 &&
    !used.has(place) &&
    head.digests[place] === messages[index]?.digest
  const take = (index: number, place: number) => {
    at[index] = place
    used.add(place)
  }
  for (let index = 1; index < at.length; index++) {
    const place = (at[index - 1] ?? -1) + 1
    if (place > 0 && isSame(index, place)) take(index, place)
  }
  for (let index = at.length - 2; index >= 0; index--) {
    const next = at[index + 1] ?? -1
    if (next > 0 && isSame(index, next - 1)) take(index, next - 1)
  }
}

function toAlignment({ digests, systems }: Head, at: Int32Array, prefix: number): Alignment {
  const found = new Set(at)
  const lost = [...digests.keys()].filter((place) => !found.has(place))
  const lastIndex = at.findLastIndex((place) => place !== -1)
  const inserted = [...at.keys()].filter((index) => at[index] === -1 && index < lastIndex)
  return {
    at,
    prefix,
    lost,
    inserted,
    trailing: at.length - 1 - lastIndex,
    last_kept: at[lastIndex] ?? -1,
    kept: at.reduce((count, place) => (place >= systems ? count + 1 : count), 0),
  }
}

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
  if (words.size < minRestatedWords) return false
  const lost = new Set<string>()
  for (const id of head.ids.slice(head.systems).slice(-maxRestatedMessages)) {
    const text = state.messages[id]?.text.slice(0, restated_chars_max) ?? ''
    for (const word of readWords(text)) lost.add(word)
  }
  const known = [...words].filter((word) => lost.has(word)).length
  return known >= words.size * minRestatedShare
}

const restated_chars_max = 2_000
const maxRestatedMessages = 200
const minRestatedWords = 8
const minRestatedShare = 0.5

function readWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\d]{4,40}/gu))
}
