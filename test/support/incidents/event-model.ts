import type {
  EventSample,
  GroupState,
  Slot,
  Transition,
} from '../../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import {
  type Act,
  type Answer,
  comparableState,
  emptyState,
  type LogEntry,
  newest,
  stateFromLog,
} from './group-history.ts'

/** A moment of an event group: a match, the end of a slot, or the move of a person. */
type Moment =
  | { readonly type: 'match'; readonly at_ms: number }
  | { readonly type: 'tick'; readonly at_ms: number; readonly slot: Slot; is_partial: boolean }
  | { readonly type: 'resolve'; readonly at_ms: number }

/** A change of an event group, with the index of the moment at which it happened. */
type Change = { readonly moment: number; readonly entry: LogEntry }

type Tick = Extract<Moment, { type: 'tick' }>

type Life = {
  readonly rule: Rule
  readonly moments: readonly Moment[]
  readonly changes: readonly Change[]
}

/** Answers for each act of the history of an event rule's group. */
export function modelEventGroup(rule: Rule, acts: readonly Act[]): Answer[] {
  const answers: Answer[] = []
  let life: Life = { rule, moments: [], changes: [] }
  for (const act of acts) {
    const known = life.changes.length
    for (const moment of momentsOf(rule, act)) {
      const seen: Life = { ...life, moments: [...life.moments, moment] }
      const changes = changesAtLastMoment(seen).map(atLast(seen))
      life = { ...seen, changes: [...seen.changes, ...changes] }
    }
    const log = life.changes.slice(known).map(({ entry }) => entry)
    const transitions = log.filter((entry): entry is Transition => entry.type !== 'resolved')
    const isForgotten = log.some(({ type }) => type === 'forgotten')
    if (isForgotten) life = { rule, moments: [], changes: [] }
    answers.push({ state: comparableState(stateOf(life)), transitions })
  }
  return answers
}

function momentsOf(rule: Rule, act: Act): Moment[] {
  if (act.type === 'restart') return []
  if (act.type === 'resolve') return [act]
  const { slot } = act
  const { matches, lag_ms } = act.sample as EventSample
  const inOrder = matches.toSorted((a, b) => a - b)
  const is_partial = lag_ms > durationMs(rule.delay)
  const tick: Moment = { type: 'tick', at_ms: slot.end_ms, slot, is_partial }
  return [...inOrder.map((at_ms) => ({ type: 'match' as const, at_ms })), tick]
}

function changesAtLastMoment(life: Life): LogEntry[] {
  const { moments, changes } = life
  const moment = moments.at(-1)
  if (moment === undefined) return []
  const { is_firing, ended_ms } = stateFromLog(changes.map(({ entry }) => entry))
  if (moment.type === 'resolve') {
    const at_ms = Math.max(ended_ms ?? moment.at_ms, moment.at_ms)
    const move = { type: 'resolved', at_ms, is_quiet: false, is_end: true } as const
    return is_firing ? [{ ...move, act: moments.length - 1 }] : []
  }
  const mayEnd = is_firing && (moment.type === 'match' || !moment.is_partial)
  const isEnded = mayEnd && isOver(life, moment.at_ms)
  const ended: LogEntry[] = isEnded ? [{ type: 'ended', slot_ms: moment.at_ms }] : []
  if (is_firing && !isEnded) return []
  const next =
    moment.type === 'match'
      ? firedAt(life, moment.at_ms, isEnded ? moments.length - 1 : undefined)
      : forgottenAt({ ...life, changes: [...changes, ...ended.map(atLast(life))] }, moment)
  return [...ended, ...next]
}

/** Fires if enough matches count, of those since the moment `since` if it is given. */
function firedAt(life: Life, slot_ms: number, since?: number): LogEntry[] {
  const { event, severity } = life.rule
  if (countedMatches(life, since).length < (event?.count ?? 1)) return []
  return [{ type: 'fired', slot_ms, severity, tier: null, late: false }]
}

function atLast({ moments }: Life) {
  return (entry: LogEntry): Change => ({ moment: moments.length - 1, entry })
}

/** Firing is over `keep_firing_for` after the newest match that fired or renewed it. */
function isOver(life: Life, at_ms: number): boolean {
  const keep = life.rule.keep_firing_for
  const earlier = life.moments.slice(0, -1)
  const last_true_ms = lastTrue({ ...life, moments: earlier })
  return keep !== undefined && last_true_ms !== null && at_ms - last_true_ms >= durationMs(keep)
}

/** Returns the newest match of the newest firing, beginning with the one that fired. */
function lastTrue({ moments, changes }: Life): number | null {
  const fired = changes.findLast(({ entry }) => entry.type === 'fired')
  if (fired === undefined) return null
  const over = changes.findLast((change) => !['fired', 'raised'].includes(change.entry.type))
  const isFiring = over === undefined || changes.indexOf(over) < changes.indexOf(fired)
  const inFiring = moments.slice(fired.moment, isFiring ? undefined : over.moment)
  const matches = inFiring.filter(({ type }) => type === 'match')
  return newest(matches.map(({ at_ms }) => at_ms))
}

/**
 * Returns the matches that count towards the next firing: those since firing ended, or since the
 * move of a person, without those that a later match drops because `within` is over.
 */
function countedMatches({ rule, moments, changes }: Life, since?: number): number[] {
  const boundary = changes.findLast(({ entry }) => entry.type !== 'forgotten')
  const first = since ?? (boundary === undefined ? 0 : firstMomentAfter(boundary))
  const counted = moments.slice(first).filter(({ type }) => type === 'match')
  const within = rule.event?.within
  const within_ms = within === undefined ? Number.POSITIVE_INFINITY : durationMs(within)
  const kept = counted.filter(({ at_ms }, index) => {
    return counted.slice(index).every((later) => at_ms > later.at_ms - within_ms)
  })
  return kept.map(({ at_ms }) => at_ms).sort((a, b) => a - b)
}

/** The match at which firing ends or begins counts for the new firing, or not at all. */
function firstMomentAfter({ moment, entry }: Change): number {
  return entry.type === 'ended' || entry.type === 'resolved' ? moment : moment + 1
}

function forgottenAt(life: Life, { at_ms, slot, is_partial }: Tick): LogEntry[] {
  const matches = life.moments.filter(({ type }) => type === 'match')
  const seen_ms = newest(matches.map((match) => match.at_ms))
  const within_ms = durationMs(life.rule.event?.within ?? '0s')
  const isCounting = matchesOf(life).some((match_ms) => match_ms > at_ms - within_ms)
  const isOld = seen_ms !== null && at_ms - seen_ms >= slot.forget_after_ms
  if (!isOld || isCounting || is_partial || slot.has_open_incident) return []
  return [{ type: 'forgotten', slot_ms: at_ms }]
}

/** Returns the matches of the state: empty while the group fires. */
function matchesOf(life: Life): number[] {
  const { is_firing } = stateFromLog(life.changes.map(({ entry }) => entry))
  return is_firing ? [] : countedMatches(life)
}

function stateOf(life: Life): GroupState {
  const log = life.changes.map(({ entry }) => entry)
  const { is_firing, ...changes } = stateFromLog(log)
  const times = (type: Moment['type']) =>
    newest(life.moments.filter((moment) => moment.type === type).map(({ at_ms }) => at_ms))
  return {
    ...emptyState,
    ...changes,
    phase: is_firing ? 'firing' : 'ok',
    slot_ms: times('tick'),
    seen_ms: times('match'),
    last_true_ms: lastTrue(life),
    matches: matchesOf(life),
  }
}
