import type { Evidence, IncidentView } from '../incident-view.ts'
import type { NoticeReason } from '../life-cycle/notices.ts'

/**
 * Why a message is sent. `opened_and_resolved`: the end of an incident, to a channel that no message
 * about its opening can have reached.
 */
export type MessageReason = NoticeReason | 'opened_and_resolved'

/** The facts of a message besides the incident. They are read once, before the first attempt. */
export type MessageDetails = {
  /** Limit of the rule, such as `> 4000 ms over 10m`; null for rules without one. */
  limit: string | null
  /** Unit of the value; empty for shares and counts. */
  unit: string
  task_id: string | null
  trace_id: string | null
  /** Step of the task at which the finding begins, counted from 0. */
  step: number | null
  /** Calls or findings that show why a measured rule fired; at most three. */
  examples: readonly Evidence[]
}

/**
 * Pages of the service about an incident. A service without a public address has no pages. `ack`,
 * `resolve` and `snooze` answer the incident once, without a sign-in; see `actionLinks`.
 */
export type MessageLinks = {
  incident: string
  task?: string
  trace?: string
  ack?: string
  resolve?: string
  snooze?: string
}

/** A message of the outbox: the incident as it was after the event. */
export type Message = {
  reason: MessageReason
  /** Time of the event, ISO 8601. */
  at: string
  /** Text of the person who moved the incident. */
  note: string | null
  incident: IncidentView
  details?: MessageDetails
  links?: MessageLinks
}

/** Returns whether a message says that the incident is over. */
export function isEnd(reason: MessageReason): boolean {
  return reason === 'resolved' || reason === 'opened_and_resolved'
}
