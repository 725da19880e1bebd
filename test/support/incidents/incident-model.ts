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
    found = { ...found, marks: [...found.marks, ...marksOfTime(history, found.marks, at)] }
    for (const [index, entry] of history.entries.entries()) {
      if (entry.at === at) found = afterEntry(history, found, { index, entry })
    }
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
  const last = moves.findLast(({ type }) => !['raised', 'assigned'].includes(type))
  return last?.type === 'acknowledged'
}

/** Returns the contributors that fire after the first `count` entries. */
export function firingContributors(
  { contributors, entries }: KeyHistory,
  marks: readonly Mark[],
  count: number,
): string[] {
  const cleared = marks.findLast(({ type, actor }) => type === 'resolved' && actor === 'user')
  return Object.keys(contributors).filter((name) => {
    const own = entries.slice(0, count).filter((entry) => 'by' in entry && entry.by === name)
    const last = own.findLast(({ type }) => type !== 'raised')
    const isCleared = cleared !== undefined && own.every(({ at }) => at <= cleared.at)
    return last?.type === 'fired' && !isCleared
  })
}

/** Returns the changes of time alone: the end of flapping, and of an acknowledgement. */
function marksOfTime(history: KeyHistory, marks: readonly Mark[], at: number): Mark[] {
  const last = newestMark(marks)
  if (last === undefined || last.type === 'resolved') return []
  const change = { ...last, at, actor: 'rule' as const }
  if (last.is_flapping && isQuiet(history, marks, at)) {
    return [{ ...change, type: 'resolved', is_flapping: false }]
  }
  const acknowledged = marks.findLast(({ type }) => type === 'acknowledged')
  const timeout = Math.min(...rulesOf(history, marks, at).map(ackTimeout))
  if (!isAcknowledged(marks, last.incident) || acknowledged === undefined) return []
  return at - acknowledged.at >= timeout ? [{ ...change, type: 'unacknowledged' }] : []
}

/** Returns whether no contributor fired in the last 30 minutes, so that flapping ends. */
function isQuiet(history: KeyHistory, marks: readonly Mark[], at: number): boolean {
  const earlier = history.entries.filter((entry) => entry.at < at)
  const changes = earlier.filter(({ type }) => type === 'fired' || type === 'ended')
  const since = Math.max(...[...changes, ...marks.filter(isOpening)].map((change) => change.at))
  const staysOpen = rulesOf(history, marks, at).some(({ auto_resolve }) => !auto_resolve)
  const isFiring = firingContributors(history, marks, earlier.length).length > 0
  return !isFiring && !staysOpen && at - since >= quiet_minutes
}

function ackTimeout({ ack_timeout }: Rule): number {
  return ack_timeout === undefined ? Number.POSITIVE_INFINITY : minutes(ack_timeout)
}

/** Returns a duration in minutes. */
export function minutes(text: string): number {
  return durationMs(text) / 60_000
}

/**
 * Returns the rules that contributed to the current incident since it was opened or reopened. One
 * that a person reopened keeps the rule that fired last before.
 */
export function rulesOf(
  { contributors, entries }: KeyHistory,
  marks: readonly Mark[],
  at: number,
): Rule[] {
  const opened = marks.findLast(isOpening)
  if (opened === undefined) return []
  const fired = entries.filter((entry) => entry.type === 'fired')
  const earlier = fired.filter((entry) => entry.at < opened.at).slice(-1)
  const since = fired.filter((entry) => opened.at <= entry.at && entry.at <= at)
  const names = [...(opened.actor === 'user' ? earlier : []), ...since].map(({ by }) => by)
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
  const { status, mark } = answerMove(marks, entry)
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
  if (last !== undefined && last.type !== 'resolved') {
    if (highest === last.severity) return []
    return [{ ...last, at, type: 'raised', severity: highest, actor: 'rule' }]
  }
  if (type === 'raised' || isBeforeKnown(marks, entry)) return []
  const reopens = last && at - last.at < minutes(contributors[by]?.reopen_within ?? '0s')
  const is_flapping = isFlapping(marks, at)
  if (reopens) {
    return [{ ...last, at, type: 'reopened', severity: highest, actor: 'rule', is_flapping }]
  }
  const incident = Math.max(0, ...marks.map((mark) => mark.incident)) + 1
  return [{ at, incident, type: 'opened', severity, actor: 'rule', is_flapping }]
}

/** A late slot at or before an opening of the key opens nothing. */
function isBeforeKnown(marks: readonly Mark[], entry: KeyEntry): boolean {
  const slot = 'slot' in entry ? entry.slot : undefined
  return slot !== undefined && marks.some((mark) => isOpening(mark) && slot <= mark.at)
}

function higher(one: Severity, other: Severity = 'info'): Severity {
  return severities.indexOf(one) > severities.indexOf(other) ? one : other
}

/** With more than 4 openings in an hour, since a person resolved last, the key is flapping. */
function isFlapping(marks: readonly Mark[], at: number): boolean {
  const handled = marks.findLastIndex(({ type, actor }) => type === 'resolved' && actor === 'user')
  const openings = marks.slice(handled + 1).filter(isOpening)
  const recent = openings.filter((opening) => opening.at > at - openings_minutes)
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
  return [{ ...last, at: entry.at, type: 'resolved', actor: 'rule' }]
}

/** Answers the move of a person: the version is checked before the state. */
function answerMove(marks: readonly Mark[], move: Move): { status: number; mark?: Mark } {
  const last = newestMark(marks, move.incident)
  if (last === undefined) return { status: 404 }
  const version = marks.filter(({ incident }) => incident === last.incident).length
  if (move.version !== undefined && move.version !== version) return { status: 412 }
  const change = { ...last, at: move.at, actor: 'user' as const }
  const isResolved = last.type === 'resolved'
  if (move.type === 'reopen') {
    const current = newestMark(marks)
    const isBlocked = current?.type !== 'resolved'
    if (!isResolved) return { status: 200 }
    if (isBlocked) return { status: 409 }
    const is_flapping = isFlapping(marks, move.at)
    return { status: 200, mark: { ...change, type: 'reopened', is_flapping } }
  }
  if (move.type === 'resolve') {
    if (isResolved) return { status: 200 }
    return { status: 200, mark: { ...change, type: 'resolved', is_flapping: false } }
  }
  if (isResolved) return { status: 409 }
  if (move.type === 'assign') return { status: 200, mark: { ...change, type: 'assigned' } }
  if (isAcknowledged(marks, last.incident)) return { status: 200 }
  return { status: 200, mark: { ...change, type: 'acknowledged' } }
}
