import type {
  Outcome,
  RecentSlot,
  Run,
  Slot,
} from '../../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { type Act, newest } from './group-history.ts'
import { type Judgement, judge } from './slot-outcome.ts'

/**
 * The meaning of one act for the group:
 * - `complete`: the slot is evaluated for good;
 * - `ahead`: partial and certain, so it counts as true and is evaluated again;
 * - `skipped`: the catch-up limit ended, the slot has no outcome;
 * - `amended`: late rows replace the outcome of a recent slot;
 * - `added`: late rows of a slot after the newest one, or the first rows of a group;
 * - `ignored`: changes nothing.
 */
export type Reading = Judgement & {
  readonly sort: 'complete' | 'ahead' | 'skipped' | 'amended' | 'added' | 'ignored'
  readonly slot_ms: number
}

/** Reads the acts of one life of a group, from its first slot to the last act. */
export function readActs(rule: Rule, acts: readonly Act[]): Reading[] {
  const readings: Reading[] = []
  for (const act of acts) readings.push(readAct(rule, act, readings))
  return readings
}

function readAct(rule: Rule, act: Act, before: readonly Reading[]): Reading {
  if (act.type !== 'slot') return { ...nothing, severity: rule.severity }
  const judgement = judge(rule, act.sample, seenAfter(before) !== null)
  const isPartial = act.sample.lag_ms > durationMs(rule.delay)
  const slot_ms = act.slot.end_ms
  if (act.slot.pass === 'late') {
    const sort = isPartial ? 'ignored' : sortOfLate(slot_ms, judgement, before)
    return { ...judgement, sort, slot_ms }
  }
  const isRepeated = slot_ms <= (slotAfter(before) ?? Number.NEGATIVE_INFINITY)
  if (isRepeated) return { ...judgement, sort: 'ignored', slot_ms }
  const sort = isPartial ? sortOfPartial(act.slot, judgement) : 'complete'
  return { ...judgement, sort, slot_ms }
}

function sortOfPartial({ is_last_attempt }: Slot, { is_certain }: Judgement): Reading['sort'] {
  if (is_last_attempt) return is_certain ? 'complete' : 'skipped'
  return is_certain ? 'ahead' : 'ignored'
}

function sortOfLate(
  slot_ms: number,
  { has_data }: Judgement,
  before: readonly Reading[],
): Reading['sort'] {
  const isKnown = before.some(({ sort }) => sort !== 'ignored')
  if (!isKnown) return has_data ? 'added' : 'ignored'
  if (slot_ms > (slotAfter(before) ?? Number.NEGATIVE_INFINITY)) return 'added'
  return [...completeSlots(before).keys()].slice(-5).includes(slot_ms) ? 'amended' : 'ignored'
}

const nothing: Omit<Reading, 'severity'> = {
  ...{ sort: 'ignored', slot_ms: Number.NEGATIVE_INFINITY, has_data: false },
  ...{ outcome: 'undecided', is_certain: false, tier: null },
}

/** Sorts of readings that give a slot an outcome for good. */
const judgedSorts: readonly Reading['sort'][] = ['complete', 'amended', 'added']

/** Returns the complete slots with their newest outcomes, oldest first. */
function completeSlots(readings: readonly Reading[]): Map<number, Outcome> {
  const judged = readings.filter(({ sort }) => judgedSorts.includes(sort))
  return new Map(judged.map(({ slot_ms, outcome }) => [slot_ms, outcome]))
}

/** Returns the newest slot that is complete or skipped. */
export function slotAfter(readings: readonly Reading[]): number | null {
  const passed = readings.filter(({ sort }) => ['complete', 'added', 'skipped'].includes(sort))
  return newest(passed.map(({ slot_ms }) => slot_ms))
}

/** Returns the newest complete slot that had data when it was evaluated or amended. */
export function seenAfter(readings: readonly Reading[]): number | null {
  const judged = readings.filter(({ sort }) => judgedSorts.includes(sort))
  return newest(judged.filter(({ has_data }) => has_data).map(({ slot_ms }) => slot_ms))
}

/** Returns the newest slot that was true when it was evaluated or amended. */
export function lastTrueAfter(readings: readonly Reading[]): number | null {
  const judged = readings.filter(({ sort }) => sort !== 'skipped' && sort !== 'ignored')
  return newest(judged.filter(({ outcome }) => outcome === 'true').map(({ slot_ms }) => slot_ms))
}

/**
 * Returns the start of the run that contains a complete slot: the first true slot of the unbroken
 * sequence of complete slots that are not false and end with it. Null outside a run.
 */
export function runStart(
  readings: readonly Reading[],
  slot_ms: number,
  interval_ms: number,
): number | null {
  const outcomes = completeSlots(readings)
  const unbroken: number[] = []
  for (let at = slot_ms; (outcomes.get(at) ?? 'false') !== 'false'; at -= interval_ms) {
    unbroken.unshift(at)
  }
  return unbroken.find((at) => outcomes.get(at) === 'true') ?? null
}

/** Returns the run that the newest complete slot is in. */
export function runAfter(readings: readonly Reading[], interval_ms: number): Run | null {
  const until_ms = [...completeSlots(readings).keys()].at(-1)
  if (until_ms === undefined) return null
  const since_ms = runStart(readings, until_ms, interval_ms)
  return since_ms === null ? null : { since_ms, until_ms }
}

/** Returns the newest six complete slots with their outcomes and runs. */
export function recentAfter(readings: readonly Reading[], interval_ms: number): RecentSlot[] {
  const slots = [...completeSlots(readings)].slice(-6)
  return slots.map(([slot_ms, outcome]) => {
    return { slot_ms, outcome, run_since_ms: runStart(readings, slot_ms, interval_ms) }
  })
}

/**
 * Returns the run that ends with a certain partial slot beyond the complete and skipped slots. A late
 * pass that changes the run before it counts as the newest slot again.
 */
export function aheadAfter(readings: readonly Reading[], interval_ms: number): Run | null {
  const last = readings.findLastIndex(({ sort }) => sort !== 'ignored')
  const reading = readings[last]
  if (reading === undefined) return null
  const before = aheadAfter(readings.slice(0, last), interval_ms)
  const newest_ms = slotAfter(readings) ?? reading.slot_ms
  const at = reading.sort === 'amended' ? newest_ms : reading.slot_ms
  const run = runAfter(readings.slice(0, last + 1), interval_ms)
  if (reading.sort === 'ahead') {
    if (before !== null && before.since_ms <= at && at <= before.until_ms) return before
    if (before?.until_ms === at - interval_ms) return { ...before, until_ms: at }
    const continues = run?.until_ms === at - interval_ms
    return { since_ms: continues ? run.since_ms : at, until_ms: at }
  }
  if (before === null || before.until_ms <= at) return null
  const touches = before.since_ms <= at + interval_ms
  if (touches && run?.until_ms === at) return { ...before, since_ms: run.since_ms }
  return { ...before, since_ms: Math.max(before.since_ms, at + interval_ms) }
}
