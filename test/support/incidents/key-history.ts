import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import type { Severity } from '../../../src/model/severity.ts'

/** The history of one dedup key: every entry in the order in which it is processed. */
export type KeyHistory = {
  /** Rules and groups that share the key. */
  readonly contributors: Readonly<Record<string, Rule>>
  readonly entries: readonly KeyEntry[]
  /** Times at which messages are muted, by a suppression or an inhibiting incident. */
  readonly mutes: readonly Mute[]
  /** Minute at which the observation ends, inclusive. */
  readonly until: number
}

/** Times are whole minutes since the start of the history. */
export type KeyEntry =
  | {
      readonly type: 'fired'
      readonly at: number
      readonly by: string
      readonly severity: Severity
      /** The slot of a late firing, before `at`. */
      readonly slot?: number
    }
  | {
      readonly type: 'raised'
      readonly at: number
      readonly by: string
      readonly severity: Severity
      readonly slot?: never
    }
  | { readonly type: 'ended'; readonly at: number; readonly by: string }
  | Move

/** A move of a person on the incident with a number, or the newest one. */
export type Move = {
  readonly type: 'acknowledge' | 'resolve' | 'reopen' | 'assign' | 'snooze' | 'unsnooze'
  readonly at: number
  readonly incident?: number
  /** Of a snooze: how long it lasts. */
  readonly minutes?: number
  /** Version in `If-Match`. */
  readonly version?: number
}

/** A mute from a minute, inclusive, to a minute, exclusive, for severities up to `up_to`. */
export type Mute = { readonly from: number; readonly to: number; readonly up_to?: Severity }

/** A change of an incident. Numbers of incidents count from 1. */
export type Mark = {
  readonly at: number
  /** The slot of a late opening or reopening. */
  readonly slot?: number | undefined
  readonly incident: number
  readonly type:
    | 'opened'
    | 'reopened'
    | 'raised'
    | 'acknowledged'
    | 'assigned'
    | 'snoozed'
    | 'unsnoozed'
    /** `ack_timeout` is over, or a person withdrew: the incident is open again. */
    | 'unacknowledged'
    /** Flapping is over, and a person resolves. */
    | 'calmed'
    | 'resolved'
  readonly severity: Severity
  readonly actor: 'rule' | 'user'
  /** Whether the incident is flapping since this change, or still. */
  readonly is_flapping: boolean
}

/** The answer to a move, as an HTTP status. */
export type MoveAnswer = { readonly at: number; readonly type: Move['type']; status: number }

/** A message about an incident, before messages are grouped. */
export type Message = {
  readonly at: number
  readonly incident: number
  readonly type:
    | 'opened'
    | 'severity_raised'
    | 'reopened'
    | 'reminder'
    | 'escalated'
    | 'resolved'
    | 'still_firing'
    | 'flapping'
  readonly severity: Severity
  readonly channels: readonly string[]
}
