import { type Head, isAnswer } from './heads.ts'
import type { HistoryMessage } from './read-messages.ts'

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
