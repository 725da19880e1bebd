import type { Severity } from '../../../model/severity.ts'

/** Who changes an incident. A rule and a timer of the service act without a person. */
export type Actor = {
  readonly type: 'rule' | 'user' | 'key' | 'channel' | 'timer'
  readonly id: string
}

/** A rule and a group that fires: the incident resolves when the last one ends. */
export type Contributor = { readonly rule: string; readonly group: string }

/** An incident: all that decides its next change, as plain JSON. Times are ms since 1970. */
export type Incident = {
  readonly dedup_key: string
  readonly state: 'open' | 'acknowledged' | 'resolved'
  /** The highest severity since the opening. */
  readonly severity: Severity
  /** Factor of the fastest tier since the opening, for burn rates. */
  readonly tier: number | null
  /**
   * The ETag of the incident: incremented when its state, severity, assignee or contributors change,
   * and by each move of a person. Reminders, escalation steps and suppressions keep it, so that they
   * do not refuse the move of a person who read the incident before.
   */
  readonly version: number
  readonly assignee: string | null
  readonly opened_ms: number
  /** Of the acknowledgement in effect, also after a resolve. */
  readonly acknowledged_ms: number | null
  readonly resolved_ms: number | null
  readonly contributors: readonly Contributor[]
  /** False if a rule that contributed has `auto_resolve: false`: then a person resolves. */
  readonly auto_resolve: boolean
  /** Names of all rules that contributed; their timers apply, see `joinTimers`. */
  readonly rules: readonly string[]
  /** Channels of all live rules that contributed. */
  readonly notify: readonly string[]
  /** Channels of the escalation steps that were taken. */
  readonly escalated_to: readonly string[]
  /** Openings and reopenings of the key in the last hour; at most `openings_max`. */
  readonly openings_ms: readonly number[]
  readonly flapping: boolean
  /** While flapping: the time since which no rule fires; null while one does. */
  readonly quiet_since_ms: number | null
  /** Opened for rows that arrived late. */
  readonly late: boolean
  /** The rules that contributed were suspended, edited or deleted; a person resolves. */
  readonly orphaned: boolean
  /** True while only shadow rules contributed: no messages. */
  readonly shadow: boolean
  /** Suppressions in effect, and `person` for one by hand. */
  readonly suppressed_by: readonly string[]
  /** End of a snooze, which is a suppression by hand that ends by itself; null without one. */
  readonly snoozed_until_ms: number | null
  /** Incidents that inhibit this one. */
  readonly inhibited_by: readonly string[]
  /**
   * Channels for which there was a message that the incident fires, since the last opening, and
   * channels that received one instead of another: those learn the end.
   */
  readonly announced_to: readonly string[]
  /** True once a channel accepted a message that announces the incident as firing. */
  readonly opened_delivered: boolean
  /** The clock of the escalation. */
  readonly escalation: Escalation
  /** Time of the last message to `notify`: reminders count from it. */
  readonly reminded_ms: number
}

type Escalation = {
  /** The opening or reopening, or the end of the mute in which it was. */
  readonly since_ms: number
  /** `after` of the last step that was taken, and the time; null before the first. */
  readonly taken_ms: number | null
  readonly last_step_ms: number | null
}

/** Returns the clocks of messages from their start. */
export function newClocks(at_ms: number): Pick<Incident, 'escalation' | 'reminded_ms'> {
  const escalation = { since_ms: at_ms, taken_ms: null, last_step_ms: null }
  return { escalation, reminded_ms: at_ms }
}

/** Returns an incident after a message that it is still firing; `after` counts from the first. */
export function withStillFiring(incident: Incident, at_ms: number): Incident {
  if (incident.opened_delivered) return { ...incident, reminded_ms: at_ms }
  return { ...incident, ...newClocks(at_ms), escalated_to: [] }
}

/** Returns an incident without its snooze; a suppression by hand without an end remains. */
export function withoutSnooze(incident: Incident): Incident {
  if (incident.snoozed_until_ms === null) return incident
  const suppressed_by = incident.suppressed_by.filter((one) => one !== 'person')
  return { ...incident, suppressed_by, snoozed_until_ms: null }
}

/**
 * Ends the suppression of an incident by hand. An open incident that nothing else mutes is still
 * firing. The escalation of a snoozed incident starts again from its first step.
 */
export function endSuppression(
  before: Incident,
  at_ms: number,
): { incident: Incident; type: IncidentEvent['type'] } {
  const isSnoozed = before.snoozed_until_ms !== null
  const suppressed_by = before.suppressed_by.filter((one) => one !== 'person')
  const incident = { ...before, suppressed_by, snoozed_until_ms: null }
  if (incident.state !== 'open') return { incident, type: 'unmuted' }
  const rested = isSnoozed ? { ...incident, ...newClocks(at_ms), escalated_to: [] } : incident
  if (isMuted(incident)) return { incident: rested, type: 'unmuted' }
  return { incident: withStillFiring(rested, at_ms), type: 'still_firing' }
}

/** An entry of the timeline of an incident. */
export type IncidentEvent = {
  readonly type:
    | 'opened'
    | 'flapping'
    | 'attached'
    | 'raised'
    | 'reopened'
    | 'ended'
    | 'resolved'
    | 'acknowledged'
    | 'assigned'
    | 'commented'
    | 'muted'
    | 'snoozed'
    | 'unmuted'
    | 'still_firing'
    | 'orphaned'
    | 'reminder'
    | 'escalated'
    | 'ack_timed_out'
    | 'undelivered'
  readonly at_ms: number
  readonly actor: Actor
  readonly note?: string
  /**
   * Channels of an escalation step, or those that a rule adds to an incident; other events go to the
   * channels of the incident.
   */
  readonly notify?: readonly string[]
}

/** An incident after a change, with the events of the change. */
export type Changed = {
  incident: Incident
  events: readonly IncidentEvent[]
  /** True if the change created the incident. */
  is_new?: true
}

/** Returns whether the messages of an incident are muted. */
export function isMuted({ suppressed_by, inhibited_by }: Incident): boolean {
  return suppressed_by.length > 0 || inhibited_by.length > 0
}

/** More openings of a key than this, in an hour, are flapping. */
export const openings_max = 4

const hour_ms = 3_600_000

/** Quiet time after which a flapping incident closes. */
export const flappingQuietMs = 30 * 60_000

/** Returns the openings of the last hour, with a new one; one more than allowed is enough. */
export function addOpening(openings: readonly number[], at_ms: number): number[] {
  return [...openings.filter((one) => one > at_ms - hour_ms), at_ms].slice(-(openings_max + 1))
}

/** Returns an incident that is open again: the escalation and the reminders start again. */
export function reopened(incident: Incident, at_ms: number): Incident {
  const openings_ms = addOpening(incident.openings_ms, at_ms)
  return {
    ...incident,
    state: 'open',
    version: incident.version + 1,
    acknowledged_ms: null,
    resolved_ms: null,
    openings_ms,
    flapping: openings_ms.length > openings_max,
    quiet_since_ms: null,
    announced_to: [],
    opened_delivered: false,
    escalated_to: [],
    ...newClocks(at_ms),
  }
}
