import type { Transition } from '../../../src/capabilities/incidents/evaluation/contract.ts'
import { slotFactsOf } from '../../../src/capabilities/incidents/life-cycle/advance-group.ts'
import { applyTimers, joinTimers } from '../../../src/capabilities/incidents/life-cycle/due.ts'
import type {
  Changed,
  Incident,
  IncidentEvent,
} from '../../../src/capabilities/incidents/life-cycle/incident.ts'
import {
  type Move as IncidentMove,
  moveIncident,
} from '../../../src/capabilities/incidents/life-cycle/move.ts'
import {
  announced,
  applyMuting,
  type NoticeReason,
  noticesOf,
} from '../../../src/capabilities/incidents/life-cycle/notices.ts'
import { recordTransition } from '../../../src/capabilities/incidents/life-cycle/record-transition.ts'
import { type Severity, severities } from '../../../src/model/severity.ts'
import type { KeyEntry, KeyHistory, Mark, Message, Move, MoveAnswer } from './key-history.ts'

const minute_ms = 60_000

/** The changes, messages and answers of the code, in the words of the model. */
export type Played = {
  readonly marks: readonly Mark[]
  readonly messages: readonly Message[]
  readonly answers: readonly MoveAnswer[]
}

/** Plays a history of a dedup key on the code, minute by minute: entries, mutes, then timers. */
export function playKey(history: KeyHistory): Played {
  const player = new KeyPlayer(history)
  for (let at = 0; at <= history.until; at += 1) player.playMinute(at)
  return player
}

class KeyPlayer implements Played {
  readonly marks: Mark[] = []
  readonly messages: Message[] = []
  readonly answers: MoveAnswer[] = []
  private readonly incidents: Incident[] = []
  /** Versions after the marks of each incident. */
  private readonly versions: number[][] = []
  /** Index of the unresolved incident, or of the one that changed last. */
  private current = -1
  private readonly firing = new Set<string>()
  private readonly quiet = new Set<string>()

  /** The late slot of the entry that is played. */
  private slot: number | undefined
  private readonly history: KeyHistory

  constructor(history: KeyHistory) {
    this.history = history
  }

  playMinute(at: number): void {
    for (const entry of this.history.entries) if (entry.at === at) this.playEntry(entry)
    const muted = this.newest && this.mute(this.newest, at)
    if (muted !== undefined) this.keep(muted, this.current, at)
    const { newest } = this
    if (newest === undefined) return
    const rules = newest.rules.flatMap((name) => this.history.contributors[name] ?? [])
    this.keep(applyTimers(newest, joinTimers(rules), at * minute_ms), this.current, at)
  }

  private get newest(): Incident | undefined {
    return this.incidents[this.current]
  }

  private playEntry(entry: KeyEntry): void {
    if ('by' in entry) this.record(entry, entry.by)
    else this.answers.push({ at: entry.at, type: entry.type, status: this.move(entry) })
  }

  private record(entry: Exclude<KeyEntry, Move>, by: string): void {
    const rule = this.history.contributors[by]
    if (rule === undefined || (entry.type !== 'fired' && !this.firing.has(by))) return
    const slot_ms = (('slot' in entry ? entry.slot : undefined) ?? entry.at) * minute_ms
    const late = 'slot' in entry && entry.slot !== undefined
    // `step` fires no group at such a slot.
    if (late && slot_ms <= (slotFactsOf(this.newest).known_until_ms ?? -1)) return
    this.slot = 'slot' in entry ? entry.slot : undefined
    const transition = toTransition(entry, slot_ms, late)
    const at_ms = entry.at * minute_ms
    const contribution = { rule, group: '{}', dedup_key: 'key', transition, at_ms }
    if (entry.type === 'ended') this.firing.delete(by)
    else this.firing.add(by)
    this.quiet.delete(by)
    const change = recordTransition(this.newest, contribution)
    if (change === undefined) return
    if (change.is_new) this.current = this.incidents.push(change.incident) - 1
    this.keep(this.withMuting(change, entry.at), this.current, entry.at)
  }

  private move(entry: Move): number {
    this.slot = undefined
    const index = entry.incident === undefined ? this.current : entry.incident - 1
    const incident = this.incidents[index]
    if (incident === undefined) return 404
    const quiet = [...this.quiet].map((rule) => ({ rule, group: '{}' }))
    const newest = this.newest ?? incident
    const move = {
      ...toMove(entry),
      at_ms: entry.at * minute_ms,
      if_match: this.toVersion(entry.version, index),
      has_newer: index !== this.current && newest.state !== 'resolved',
      openings_ms: newest.openings_ms,
      ...{ quiet, assignee: `user-${entry.at}` },
    } as IncidentMove
    const moved = moveIncident(incident, move, { type: 'user', id: 'ada' })
    if (moved.kind === 'refused') return moved.code === 'precondition_failed' ? 412 : 409
    if (moved.kind === 'unchanged') return 200
    if (entry.type === 'resolve') moveAll(this.firing, this.quiet)
    if (entry.type === 'reopen' && incident.state === 'resolved') moveAll(this.quiet, this.firing)
    this.current = index
    this.keep(this.withMuting(moved, entry.at), index, entry.at)
    return 200
  }

  /** Returns the version of the code: histories count the changes that have a mark. */
  private toVersion(version: number | undefined, index: number): number | undefined {
    if (version === undefined) return undefined
    const known = this.versions[index] ?? []
    if (version === known.length) return this.incidents[index]?.version
    const stale = known[version - 1]
    return stale === this.incidents[index]?.version ? -1 : (stale ?? -1)
  }

  private mute(incident: Incident, at: number): Changed | undefined {
    if (incident.state === 'resolved') return undefined
    const suppressed_by = this.history.mutes.flatMap(({ from, to, up_to = 'critical' }, index) => {
      const isMatch = from <= at && at < to && ranks(incident.severity) <= ranks(up_to)
      return isMatch ? [`mute-${index}`] : []
    })
    return applyMuting(incident, { suppressed_by, inhibited_by: [] }, at * minute_ms)
  }

  private withMuting(change: Changed, at: number): Changed {
    const muted = this.mute(change.incident, at)
    if (muted === undefined) return change
    return { incident: muted.incident, events: [...change.events, ...muted.events] }
  }

  /** Keeps a changed incident, its marks and its messages. */
  private keep(change: Changed, index: number, at: number): void {
    const { incident, events } = announced(change)
    const before = this.versions[index] === undefined ? undefined : this.incidents[index]
    const number = index + 1
    const known = this.versions[index] ?? []
    this.versions[index] = known
    const { severity, flapping: is_flapping } = incident
    const add = (type: Mark['type'], actor: Mark['actor']) => {
      const slot = type === 'opened' || type === 'reopened' ? this.slot : undefined
      this.marks.push({ at, slot, incident: number, type, severity, actor, is_flapping })
      known.push(incident.version)
    }
    const isCalm = before?.flapping === true && !is_flapping && incident.state !== 'resolved'
    if (isCalm) add('calmed', 'rule')
    for (const event of events) {
      const type = toMark(event, before)
      if (type !== undefined) add(type, event.actor.type === 'user' ? 'user' : 'rule')
    }
    const notices = noticesOf({ incident, events })
    for (const { reason, channels } of notices) {
      const type = messageTypes[reason](channels.join() !== incident.notify.join())
      const sorted = channels.toSorted()
      this.messages.push({ at, incident: number, type, severity, channels: sorted })
    }
    const isDelivered = notices.some(({ reason }) => reason !== 'resolved')
    this.incidents[index] = isDelivered ? { ...incident, opened_delivered: true } : incident
  }
}

function toTransition(entry: Exclude<KeyEntry, Move>, slot_ms: number, late: boolean): Transition {
  if (entry.type === 'ended') return { type: 'ended', slot_ms }
  const { type, severity } = entry
  if (type === 'raised') return { type, slot_ms, severity, tier: 1 }
  return { type, slot_ms, severity, tier: null, late }
}

/** Returns the type and the fields of a move that only some types have. */
function toMove({ type, at, minutes = 0 }: Move) {
  if (type === 'snooze' || type === 'unsnooze') {
    const suppressed = type === 'snooze'
    const until_ms = (at + minutes) * minute_ms
    return { type: 'suppress', suppressed, ...(suppressed && { until_ms }) }
  }
  return { type: type === 'acknowledge' ? 'ack' : type }
}

function moveAll(from: Set<string>, to: Set<string>): void {
  for (const name of from) to.add(name)
  from.clear()
}

function ranks(severity: Severity): number {
  return severities.indexOf(severity)
}

/** Names the change of an event as the model does. */
function toMark(
  { type, actor }: IncidentEvent,
  before: Incident | undefined,
): Mark['type'] | undefined {
  switch (type) {
    case 'unmuted':
    case 'still_firing':
      return actor.type === 'user' ? 'unsnoozed' : undefined
    case 'snoozed':
    case 'opened':
    case 'raised':
    case 'resolved':
    case 'acknowledged':
    case 'assigned':
      return type
    case 'reopened':
      return before?.state === 'acknowledged' ? 'unacknowledged' : 'reopened'
    case 'flapping':
      return before === undefined ? 'opened' : 'reopened'
    case 'ack_timed_out':
      return 'unacknowledged'
    default:
      return undefined
  }
}

/** Types of messages in the model; of a timeout by whether it notifies an escalation step. */
const messageTypes: Record<NoticeReason, (isStep: boolean) => Message['type']> = {
  opened: () => 'opened',
  flapping: () => 'flapping',
  raised: () => 'severity_raised',
  reopened: () => 'reopened',
  reminder: () => 'reminder',
  escalated: () => 'escalated',
  ack_timed_out: (isStep) => (isStep ? 'escalated' : 'reminder'),
  resolved: () => 'resolved',
  still_firing: () => 'still_firing',
}
