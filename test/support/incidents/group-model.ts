import type {
  GroupState,
  Transition,
} from '../../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { severities } from '../../../src/model/severity.ts'
import { modelEventGroup } from './event-model.ts'
import {
  type Act,
  type Answer,
  comparableState,
  emptyState,
  type LogEntry,
  stateFromLog,
} from './group-history.ts'
import {
  aheadAfter,
  lastTrueAfter,
  type Reading,
  readActs,
  recentAfter,
  runAfter,
  runStart,
  seenAfter,
  slotAfter,
} from './slot-readings.ts'

/**
 * Answers for each act of a group's history: the state after it, and its transitions. Nothing but
 * the list of earlier changes is carried from act to act; everything else is read from the whole
 * history again. After a group is forgotten its history begins again.
 */
export function modelGroup(rule: Rule, acts: readonly Act[]): Answer[] {
  if (rule.event !== undefined) return modelEventGroup(rule, acts)
  const answers: Answer[] = []
  let life_start = 0
  let log: LogEntry[] = []
  let all = readActs(rule, acts)
  for (const index of acts.keys()) {
    const readings = all.slice(0, index + 1 - life_start)
    const life: Life = { rule, acts: acts.slice(life_start, index + 1), readings, log }
    const changes = changesOfLastAct(life)
    const transitions = changes.filter((change) => change.type !== 'resolved')
    log = [...log, ...changes]
    const isForgotten = changes.some(({ type }) => type === 'forgotten')
    const state = isForgotten ? null : comparableState(stateOf({ ...life, log }))
    answers.push({ state, transitions })
    if (isForgotten) {
      ;[life_start, log] = [index + 1, []]
      all = readActs(rule, acts.slice(life_start))
    }
  }
  return answers
}

/** The history of a group since it was created, and its changes until now. */
type Life = {
  readonly rule: Rule
  readonly acts: readonly Act[]
  /** The reading of each act, which depends on the acts before only. */
  readonly readings: readonly Reading[]
  readonly log: readonly LogEntry[]
}

function beforeLast(life: Life): Life {
  return { ...life, acts: life.acts.slice(0, -1), readings: life.readings.slice(0, -1) }
}

function stateOf(life: Life): GroupState {
  const { rule, readings, log } = life
  const interval_ms = durationMs(rule.interval)
  const { is_firing, ...changes } = stateFromLog(log)
  return {
    ...emptyState,
    ...changes,
    phase: phaseOf(life),
    slot_ms: slotAfter(readings),
    seen_ms: seenAfter(readings),
    last_true_ms: lastTrueAfter(readings),
    run: runAfter(readings, interval_ms),
    ahead: aheadAfter(readings, interval_ms),
    recent: recentAfter(readings, interval_ms),
  }
}

function phaseOf(life: Life): GroupState['phase'] {
  if (stateFromLog(life.log).is_firing) return 'firing'
  if (isQuiet(life)) return 'quiet'
  const interval_ms = durationMs(life.rule.interval)
  const settled = life.readings.findLastIndex(({ sort }) => sort !== 'ignored')
  const resolved = life.log.findLast((entry) => entry.type === 'resolved' && entry.is_end)
  if (resolved?.type === 'resolved' && resolved.act > settled) return 'ok'
  const then = life.readings.slice(0, settled + 1)
  const isRunning = runAfter(then, interval_ms) !== null || aheadAfter(then, interval_ms) !== null
  return isRunning ? 'pending' : 'ok'
}

/** A group is quiet until the log says that the quiet ended, or that it fired again. */
function isQuiet({ log }: Life): boolean {
  const last = log.findLast((entry) => entry.type !== 'raised' && !isMoveOfCalm(entry))
  return last?.type === 'resolved' && last.is_quiet
}

/** A move on a group that does not fire: it ends nothing. */
function isMoveOfCalm(entry: LogEntry): boolean {
  return entry.type === 'resolved' && !entry.is_quiet && !entry.is_end
}

function changesOfLastAct(life: Life): LogEntry[] {
  const { log, readings } = life
  const act = life.acts.at(-1)
  if (act === undefined || act.type === 'restart') return []
  const { is_firing } = stateFromLog(log)
  if (act.type === 'resolve') {
    const before = stateOf(beforeLast(life))
    if (comparableState(before) === null) return []
    const is_quiet = is_firing && (before.run !== null || before.ahead !== null)
    return [
      resolved(life, Math.max(before.ended_ms ?? act.at_ms, act.at_ms), {
        is_quiet,
        is_end: is_firing,
      }),
    ]
  }
  const reading = readings.at(-1)
  if (reading === undefined) return []
  const change = quietOf(life, reading) ?? changeOfPhase(life, reading)
  const changes = change === undefined ? [] : [change]
  const { has_open_incident, forget_after_ms } = act.slot
  const seen_ms = seenAfter(readings)
  const isForgotten =
    reading.sort === 'complete' &&
    !stateFromLog([...log, ...changes]).is_firing &&
    !has_open_incident &&
    seen_ms !== null &&
    reading.slot_ms - seen_ms >= forget_after_ms
  return isForgotten ? [...changes, { type: 'forgotten', slot_ms: reading.slot_ms }] : changes
}

function resolved(
  { readings }: Life,
  at_ms: number,
  { is_quiet, is_end }: { is_quiet: boolean; is_end: boolean },
): LogEntry {
  return { type: 'resolved', at_ms, is_quiet, is_end, act: readings.length - 1 }
}

/**
 * Returns the begin or the end of quiet at a slot of the first pass: a slot at or before a person's
 * resolve that would fire begins it; a complete false slot ends it.
 */
function quietOf(life: Life, reading: Reading): LogEntry | undefined {
  const { sort, outcome, slot_ms } = reading
  const { is_firing, ended_ms } = stateFromLog(life.log)
  if (isQuiet(life)) {
    const isOver = sort === 'complete' && outcome === 'false'
    const at_ms = Math.max(ended_ms ?? slot_ms, slot_ms)
    return isOver ? resolved(life, at_ms, { is_quiet: false, is_end: true }) : undefined
  }
  const isFirst = sort === 'complete' || sort === 'ahead'
  if (is_firing || !isFirst || outcome !== 'true' || slot_ms > (ended_ms ?? 0)) return undefined
  if (!mayFire(life, reading)) return undefined
  return resolved(life, ended_ms ?? 0, { is_quiet: true, is_end: false })
}

function changeOfPhase(life: Life, reading: Reading): Transition | undefined {
  const { sort, outcome, slot_ms, severity, tier } = reading
  if (sort === 'ignored' || sort === 'skipped') return undefined
  const { is_firing, severity: highest } = stateFromLog(life.log)
  if (!is_firing) {
    const fires = outcome === 'true' && mayFire(life, reading)
    const late = isLate(reading)
    return fires ? { type: 'fired', slot_ms, severity, tier, late } : undefined
  }
  if (isLate(reading)) return undefined
  if (outcome === 'true' && tier !== null) {
    const isHigher = severities.indexOf(severity) > severities.indexOf(highest ?? 'info')
    return isHigher ? { type: 'raised', slot_ms, severity, tier } : undefined
  }
  const isOver = outcome === 'false' && sort === 'complete' && mayEnd(life, slot_ms)
  return isOver ? { type: 'ended', slot_ms } : undefined
}

function isLate({ sort }: Reading): boolean {
  return sort === 'amended' || sort === 'added'
}

/** A false slot ends firing `keep_firing_for` after the newest true slot, and not before it. */
function mayEnd({ rule, readings }: Life, slot_ms: number): boolean {
  const since_true_ms = slot_ms - (lastTrueAfter(readings) ?? Number.NEGATIVE_INFINITY)
  return since_true_ms >= durationMs(rule.keep_firing_for ?? '0s')
}

/** A true slot fires at the end of a run of at least `for`, unless a person asked for quiet. */
function mayFire(life: Life, reading: Reading): boolean {
  const { sort, slot_ms } = reading
  const interval_ms = durationMs(life.rule.interval)
  const { fired_ms, ended_ms } = stateFromLog(life.log)
  const isKnown = [fired_ms, ended_ms].some((known_ms) => known_ms !== null && slot_ms <= known_ms)
  if (isLate(reading) && isKnown) return false
  const start_ms =
    sort === 'ahead'
      ? aheadAfter(life.readings, interval_ms)?.since_ms
      : runStart(life.readings, slot_ms, interval_ms)
  const isLong =
    start_ms !== null && start_ms !== undefined && slot_ms - start_ms >= durationMs(life.rule.for)
  return isLong && !isQuiet(beforeLast(life))
}
