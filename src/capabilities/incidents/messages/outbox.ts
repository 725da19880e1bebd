import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import { isEnd, type MessageReason } from './message.ts'

/** The messages of a rule to a channel are grouped: sent together, by incident in order. */
export type MessageGroup = {
  /** Time of the oldest message that waits; null if the group is empty. */
  first_waiting_ms: number | null
  /** Time of the last attempt that was made for the group; null before the first. */
  last_sent_ms: number | null
}

/**
 * Returns the time at which the messages of a group are sent; null if none waits. The first message
 * waits for `wait`, later ones for `interval` since the last sending. Resolves wait as well.
 */
export function sendAt(
  { first_waiting_ms, last_sent_ms }: MessageGroup,
  { wait, interval }: Rule['grouping'],
): number | null {
  if (first_waiting_ms === null) return null
  const waited_ms = first_waiting_ms + durationMs(wait)
  if (last_sent_ms === null) return waited_ms
  return Math.max(waited_ms, last_sent_ms + durationMs(interval))
}

/** A message that waits in the outbox. */
export type Waiting = {
  incident: string
  /** Position in the timeline of the incident. */
  event_seq: number
  channel: string
  reason: MessageReason
  /** Attempts that were begun. A timed-out attempt may have arrived. */
  attempts: number
  /** True for the opening of an incident for late rows, which is always sent. */
  late: boolean
  /** Whether the incident was muted at the event. */
  muted: boolean
  /** Of an end: whether an earlier message, which waits no longer, may have reached the channel. */
  announced: boolean
}

/**
 * Returns the messages to drop: those never attempted, of the same incident to the same channel,
 * that a later resolve supersedes. A later reopening is sent after the resolve.
 */
export function superseded(waiting: readonly Waiting[]): Waiting[] {
  return waiting.filter(
    (one) =>
      one.attempts === 0 &&
      !one.late &&
      waiting.some(
        (other) =>
          isEnd(other.reason) && isSameTarget(other, one) && other.event_seq > one.event_seq,
      ),
  )
}

/** A decision about the ends that wait: those to drop, and those that also tell the opening. */
export type Ends = { dropped: Waiting[]; joined: Waiting[] }

/**
 * Decides about ends that were never attempted, among the messages that are not superseded. An end is
 * about nothing if no message of its incident may have reached the channel: it tells the opening as
 * well, or is dropped if the incident ended muted.
 */
export function decideEnds(waiting: readonly Waiting[]): Ends {
  const unknown = waiting.filter(
    (one) => isEnd(one.reason) && one.attempts === 0 && !one.announced && !hasEarlier(one, waiting),
  )
  return {
    dropped: unknown.filter(({ muted }) => muted),
    joined: unknown.filter(({ muted }) => !muted),
  }
}

/** Whether a message that waits before the end announces the incident. */
function hasEarlier(end: Waiting, waiting: readonly Waiting[]): boolean {
  return waiting.some(
    (one) => !isEnd(one.reason) && isSameTarget(one, end) && one.event_seq < end.event_seq,
  )
}

function isSameTarget(one: Waiting, other: Waiting): boolean {
  return one.incident === other.incident && one.channel === other.channel
}

/**
 * Returns the messages that may be sent now: for each incident and channel the oldest one, so that
 * their order is kept even while an attempt is repeated.
 */
export function sendable(waiting: readonly Waiting[]): Waiting[] {
  const oldest = new Map<string, Waiting>()
  for (const one of waiting) {
    const key = JSON.stringify([one.incident, one.channel])
    const known = oldest.get(key)
    if (known === undefined || one.event_seq < known.event_seq) oldest.set(key, one)
  }
  return [...oldest.values()]
}
