import type { IncidentView } from '../incident-view.ts'
import type { NoticeReason } from '../life-cycle/notices.ts'

/**
 * Why a message is sent. `opened_and_resolved`: the end of an incident, to a channel that no message
 * about its opening can have reached.
 */
export type MessageReason = NoticeReason | 'opened_and_resolved'

/** A message of the outbox: the incident as it was after the event. */
export type Message = {
  reason: MessageReason
  /** Time of the event, ISO 8601. */
  at: string
  /** Text of the person who moved the incident. */
  note: string | null
  incident: IncidentView
}

/** Returns whether a message says that the incident is over. */
export function isEnd(reason: MessageReason): boolean {
  return reason === 'resolved' || reason === 'opened_and_resolved'
}
