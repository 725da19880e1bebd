import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { type Severity, severities } from '../../../src/model/severity.ts'
import type { KeyEntry, KeyHistory, Mark, Move, MoveAnswer } from './key-history.ts'

/** The incidents of a key: their changes, and the answers to the moves of people. */
export type Incidents = { readonly marks: readonly Mark[]; readonly answers: readonly MoveAnswer[] }

const openings_max = 4
const openings_minutes = 60
const quiet_minutes = 30

/** Returns the changes of all incidents of a key, minute by minute, from its whole history. */
export function modelIncidents(history: KeyHistory): Incidents {
  let found: Incidents = { marks: [], answers: [] }
  for (let at = 0; at <= history.until; at += 1) {
    for (const [index, entry] of history.entries.entries()) {
      if (entry.at === at) found = afterEntry(history, found, { index, entry })
    }
    const { marks } = found
    found = { ...found, marks: [...marks, ...marksOfTime(history, marks, at)] }
  }
  return found
}

type Indexed = { readonly index: number; readonly entry: KeyEntry }

/**
 * Returns the newest change of an incident, by default of the current one. Only one incident of a
 * key is unresolved, and a resolved one changes only if it is reopened, so that the last change of
 * all is a change of the current incident.
 */
export function newestMark(marks: readonly Mark[], incident?: number): Mark | undefined {
  return marks.findLast((mark) => incident === undefined || mark.incident === incident)
}

/** Returns whether the incident of a change was acknowledged after it. */
export function isAcknowledged(marks: readonly Mark[], incident: number): boolean {
  const moves = marks.filter((mark) => mark.incident === incident)
  const last = moves.findLast(({ type }) => !keepsState.has(type))
  return last?.type === 'acknowledged'
}

const keepsState: ReadonlySet<Mark['type']> = new Set([
  ...(['raised', 'assigned', 'calmed', 'snoozed', 'unsnoozed'] as const),
])

/** A snooze of an incident; its `to` is the minute at which time or a change ended it. */
export type Snooze = { readonly from: number; readonly to: number; readonly isReplaced: boolean }

/** Returns the snoozes of an incident. A later snooze replaces one; a resolve ends it. */
export function snoozesOf(
  { entries }: KeyHistory,
  marks: readonly Mark[],
  incident: number,
): Snooze[] {
  const own = marks.filter((mark) => mark.incident === incident && endsSnooze.has(mark.type))
  return own.flatMap(({ type, at: from }, index) => {
    if (type !== 'snoozed') return []
    const entry = entries.find((one) => one.type === 'snooze' && one.at === from)
    const until = from + (entry !== undefined && 'minutes' in entry ? (entry.minutes ?? 0) : 0)
    const next = own[index + 1]
    if (next === undefined || next.at > until) return [{ from, to: until, isReplaced: false }]
    return [{ from, to: next.at, isReplaced: next.type !== 'unsnoozed' }]
  })
}

const endsSnooze: ReadonlySet<Mark['type']> = new Set(['snoozed', 'unsnoozed', 'resolved'])

/** Returns the contributors that fire after the first `count` entries. */
export function firingContributors(
  { contributors, entries }: KeyHistory,
  marks: readonly Mark[],
  count: number,
): string[] {
  const moved = marks.findLast(({ type, actor }) => actor === 'user' && isMove.has(type))
  const cleared = moved?.type === 'resolved' ? moved : undefined
  return Object.keys(contributors).filter((name) => {
    const own = entries
      .slice(0, count)
      .filter((entry) => 'by' in entry && entry.by === name && !isBeforeKnown(marks, entry))
    const last = own.findLast(({ type }) => type !== 'raised')
    const isCleared = cleared !== undefined && own.every(({ at }) => at <= cleared.at)
    return last?.type === 'fired' && !isCleared
  })
}

/** A person's resolve makes the groups of the key quiet; a reopening makes them fire again. */
const isMove: ReadonlySet<Mark['type']> = new Set(['resolved', 'reopened'])

/** Returns the changes of time alone: the end of flapping, and of an acknowledgement. */
function marksOfTime(history: KeyHistory, marks: readonly Mark[], at: number): Mark[] {
  const last = newestMark(marks)
  if (last === undefined || last.type === 'resolved') return []
  const wasAcknowledged = isAcknowledged(marks, last.incident)
  if (!last.is_flapping && !wasAcknowledged) return []
  const rules = rulesOf(history, marks, at)
  const isCalm = last.is_flapping && isQuiet(history, marks, at)
  const is_flapping = last.is_flapping && !isCalm
  const change = { ...last, slot: undefined, at, actor: 'rule' as const, is_flapping }
  const staysOpen = rules.some(({ auto_resolve }) => !auto_resolve)
  if (isCalm && !staysOpen) return [{ ...change, type: 'resolved' }]
  const calmed: Mark[] = isCalm ? [{ ...change, type: 'calmed' }] : []
  const acknowledged = marks.findLast(({ type }) => type === 'acknowledged')
  const timeout = Math.min(...withTimers(rules).map(ackTimeout))
  if (!wasAcknowledged || acknowledged === undefined) return calmed
  if (at - acknowledged.at < timeout) return calmed
  return [...calmed, { ...change, type: 'unacknowledged' }]
}

/** Returns whether no contributor fired in the last 30 minutes, so that flapping ends. */
function isQuiet(history: KeyHistory, marks: readonly Mark[], at: number): boolean {
  const earlier = history.entries.filter((entry) => entry.at <= at)
  const ends = earlier.filter(({ type }) => type === 'ended')
  const since = Math.max(...ends.map((end) => end.at), ...marks.filter(isOpening).map(slotOf))
  const isFiring = firingContributors(history, marks, earlier.length).length > 0
  return !isFiring && at - since >= quiet_minutes
}

function slotOf({ at, slot = at }: Mark): number {
  return slot
}

/** Returns the rules whose timers apply: shadow rules count only among themselves. */
export function withTimers(rules: readonly Rule[]): readonly Rule[] {
  const live = rules.filter(({ mode }) => mode === 'live')
  return live.length === 0 ? rules : live
}

function ackTimeout({ ack_timeout }: Rule): number {
  return ack_timeout === undefined ? Number.POSITIVE_INFINITY : minutes(ack_timeout)
}

/** Returns a duration in minutes. */
export function minutes(text: string): number {
  return durationMs(text) / 60_000
}

/** Returns the rules that contributed to the current incident until a minute, inclusive. */
export function rulesOf(
  { contributors, entries }: KeyHistory,
  marks: readonly Mark[],
  at: number,
): Rule[] {
  const current = newestMark(marks)?.incident
  const fired = entries.filter((entry) => {
    if (entry.type !== 'fired' || entry.at > at || isBeforeKnown(marks, entry)) return false
    const then = marks.filter((mark) => mark.at <= entry.at)
    return newestMark(then)?.incident === current
  })
  const names = fired.flatMap((entry) => ('by' in entry ? [entry.by] : []))
  return [...new Set(names)].flatMap((name) => contributors[name] ?? [])
}

function isOpening({ type }: Mark): boolean {
  return type === 'opened' || type === 'reopened'
}

function afterEntry(history: KeyHistory, found: Incidents, { index, entry }: Indexed): Incidents {
  const { marks, answers } = found
  if (entry.type === 'fired' || entry.type === 'raised') {
    return { answers, marks: [...marks, ...marksOfFiring(history, marks, entry)] }
  }
  if (entry.type === 'ended') {
    return { answers, marks: [...marks, ...marksOfEnd(history, marks, { index, entry })] }
  }
  const { status, mark } = answerMove(history, marks, entry)
  const added = mark === undefined ? [] : [mark]
  return {
    answers: [...answers, { at: entry.at, type: entry.type, status }],
    marks: [...marks, ...added],
  }
}

/** A firing attaches to the unresolved incident, reopens the last one, or opens a new one. */
function marksOfFiring(
  { contributors }: KeyHistory,
  marks: readonly Mark[],
  entry: Extract<KeyEntry, { severity: Severity }>,
): Mark[] {
  const { type, at, by, severity } = entry
  const last = newestMark(marks)
  const highest = higher(severity, last?.severity)
  if (isBeforeKnown(marks, entry)) return []
  if (last !== undefined && last.type !== 'resolved') {
    if (highest === last.severity) return []
    const raised = { ...last, slot: undefined, severity: highest }
    return [{ ...raised, at, type: 'raised', actor: 'rule' }]
  }
  if (type === 'raised') return []
  const slot = entry.slot ?? at
  const reopen_within = minutes(contributors[by]?.reopen_within ?? '0s')
  const reopens = last && reopen_within > 0 && slot - last.at <= reopen_within
  const is_flapping = isFlapping(marks, slot)
  const change = { at, slot: entry.slot, actor: 'rule', is_flapping } as const
  if (reopens) return [{ ...last, ...change, type: 'reopened', severity: highest }]
  const incident = Math.max(0, ...marks.map((mark) => mark.incident)) + 1
  return [{ ...change, incident, type: 'opened', severity }]
}

/** At a late slot at or before an opening or a resolve of the key a group does not fire. */
function isBeforeKnown(marks: readonly Mark[], entry: KeyEntry): boolean {
  const slot = 'slot' in entry ? entry.slot : undefined
  if (slot === undefined) return false
  const earlier = marks.filter(({ at }) => at < entry.at)
  return earlier.some(
    (mark) => (isOpening(mark) || mark.type === 'resolved') && slot <= slotOf(mark),
  )
}

function higher(one: Severity, other: Severity = 'info'): Severity {
  return severities.indexOf(one) > severities.indexOf(other) ? one : other
}

/** With more than 4 openings in an hour, since a person resolved last, the key is flapping. */
function isFlapping(marks: readonly Mark[], at: number): boolean {
  const handled = marks.findLastIndex(({ type, actor }) => type === 'resolved' && actor === 'user')
  const openings = marks.slice(handled + 1).filter(isOpening)
  const recent = openings.filter((opening) => slotOf(opening) > at - openings_minutes)
  return recent.length + 1 > openings_max
}

/** The end of the last contributor resolves, unless the incident is flapping. */
function marksOfEnd(
  history: KeyHistory,
  marks: readonly Mark[],
  { index, entry }: Indexed,
): Mark[] {
  const last = newestMark(marks)
  if (last === undefined || last.type === 'resolved' || last.is_flapping) return []
  const isFiring = firingContributors(history, marks, index + 1).length > 0
  const staysOpen = rulesOf(history, marks, entry.at).some(({ auto_resolve }) => !auto_resolve)
  if (isFiring || staysOpen) return []
  return [{ ...last, slot: undefined, at: entry.at, type: 'resolved', actor: 'rule' }]
}

/** Answers the move of a person: the version is checked before the state. */
function answerMove(
  history: KeyHistory,
  marks: readonly Mark[],
  move: Move,
): { status: number; mark?: Mark } {
  const last = newestMark(marks, move.incident)
  if (last === undefined) return { status: 404 }
  const version = marks.filter(({ incident }) => incident === last.incident).length
  if (move.version !== undefined && move.version !== version) return { status: 412 }
  const change = { ...last, slot: undefined, at: move.at, actor: 'user' as const }
  const isResolved = last.type === 'resolved'
  if (move.type === 'reopen') {
    const current = newestMark(marks)
    const isBlocked = current?.type !== 'resolved'
    if (!isResolved) return { status: 200, ...withdrawn(marks, change) }
    if (isBlocked) return { status: 409 }
    const is_flapping = isFlapping(marks, move.at)
    return { status: 200, mark: { ...change, type: 'reopened', is_flapping } }
  }
  if (move.type === 'resolve') {
    if (isResolved) return { status: 200 }
    return { status: 200, mark: { ...change, type: 'resolved', is_flapping: false } }
  }
  if (isResolved) return { status: 409 }
  return { status: 200, ...changeOfOpen(history, { marks, change }, move) }
}

type Changing = { marks: readonly Mark[]; change: Mark }

/** Returns the change that a move makes of an unresolved incident; nothing for a repeated move. */
function changeOfOpen(history: KeyHistory, { marks, change }: Changing, move: Move) {
  if (move.type === 'assign') return { mark: { ...change, type: 'assigned' as const } }
  if (move.type !== 'acknowledge') return snoozed(history, { marks, change }, move)
  if (isAcknowledged(marks, change.incident)) return {}
  return { mark: { ...change, type: 'acknowledged' as const } }
}

/** A snooze to the same minute as before, and the end of none, change nothing. */
function snoozed(
  history: KeyHistory,
  { marks, change }: Changing,
  { type, at, minutes = 0 }: Move,
): { mark?: Mark } {
  const before = snoozesOf(history, marks, change.incident).at(-1)
  // Time ends a snooze after the moves of the minute.
  const until = before !== undefined && !isOver(marks, before, change.incident) ? before.to : -1
  const isInEffect = until >= at
  if (type === 'unsnooze') return isInEffect ? { mark: { ...change, type: 'unsnoozed' } } : {}
  return isInEffect && until === at + minutes ? {} : { mark: { ...change, type: 'snoozed' } }
}

/** Returns whether a change, and not time, ended the last snooze. */
function isOver(marks: readonly Mark[], { from }: Snooze, incident: number): boolean {
  const own = marks.filter((mark) => mark.incident === incident && endsSnooze.has(mark.type))
  return own.at(-1)?.type !== 'snoozed' || own.at(-1)?.at !== from
}

/** Reopening an acknowledged incident withdraws the acknowledgement. */
function withdrawn(marks: readonly Mark[], change: Mark): { mark?: Mark } {
  if (!isAcknowledged(marks, change.incident)) return {}
  return { mark: { ...change, type: 'unacknowledged' } }
}
