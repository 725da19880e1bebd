import type { IncidentView } from '../incident-view.ts'
import type { NoticeReason } from '../life-cycle/notices.ts'

/** A message of the outbox: the incident as it was after the event. */
export type Message = {
  reason: NoticeReason
  /** Time of the event, ISO 8601. */
  at: string
  /** Text of the person who moved the incident. */
  note: string | null
  incident: IncidentView
}
