import type { GroupState, Outcome, RecentSlot, Run } from './contract.ts'

/** Slots that a late pass may change, and the slot before them. */
const maxRecentSlots = 6

/** Slots that a late pass evaluates again. */
export const maxLateSlots = maxRecentSlots - 1

/** The part of a state that says in which runs its slots are. */
export type Runs = Pick<GroupState, 'slot_ms' | 'run' | 'ahead' | 'recent'>

/** Adds a complete slot after the newest one. */
export function addSlot(runs: Runs, slot_ms: number, outcome: Outcome, interval_ms: number): Runs {
  const before = runs.run?.until_ms === slot_ms - interval_ms ? runs.run.since_ms : null
  const run_since_ms = runStart(slot_ms, outcome, before)
  const run = run_since_ms === null ? null : { since_ms: run_since_ms, until_ms: slot_ms }
  const recent = [...runs.recent, { slot_ms, outcome, run_since_ms }].slice(-maxRecentSlots)
  return { slot_ms, run, recent, ahead: cutAhead(runs.ahead, run, slot_ms, interval_ms) }
}

/** Skips a slot: the next one is not one interval after `run`, so that the run ends. */
export function skipSlot(runs: Runs, slot_ms: number, interval_ms: number): Runs {
  return { ...runs, slot_ms, ahead: cutAhead(runs.ahead, runs.run, slot_ms, interval_ms) }
}

/** Returns the run ahead after a certain partial slot. */
export function growAhead({ ahead, run }: Runs, slot_ms: number, interval_ms: number): Run {
  if (ahead !== null && slot_ms >= ahead.since_ms && slot_ms <= ahead.until_ms) return ahead
  const before_ms = slot_ms - interval_ms
  const continued = [ahead, run].find((one) => one?.until_ms === before_ms)
  return { since_ms: continued?.since_ms ?? slot_ms, until_ms: slot_ms }
}

/** Cuts the run ahead of a slot that is complete or skipped, or joins it with the run there. */
function cutAhead(
  ahead: Run | null,
  run: Run | null,
  slot_ms: number,
  interval_ms: number,
): Run | null {
  if (ahead === null || ahead.until_ms <= slot_ms) return null
  const next_ms = slot_ms + interval_ms
  const isJoined = run?.until_ms === slot_ms && ahead.since_ms <= next_ms
  const since_ms = isJoined ? run.since_ms : Math.max(ahead.since_ms, next_ms)
  return { since_ms, until_ms: ahead.until_ms }
}

/**
 * Replaces the outcome of a recent slot and computes the runs again. Returns undefined for a slot
 * that a late pass may not change.
 */
export function replaceSlot(
  runs: Runs,
  slot_ms: number,
  outcome: Outcome,
  interval_ms: number,
): Runs | undefined {
  const at = runs.recent.findIndex((slot) => slot.slot_ms === slot_ms)
  if (at < 0 || runs.recent.length - at > maxLateSlots) return undefined
  const recent: RecentSlot[] = runs.recent.slice(0, at)
  for (const slot of runs.recent.slice(at)) {
    const last = recent.at(-1)
    const before = last?.slot_ms === slot.slot_ms - interval_ms ? last.run_since_ms : null
    const now = slot.slot_ms === slot_ms ? outcome : slot.outcome
    const run_since_ms = runStart(slot.slot_ms, now, before)
    recent.push({ slot_ms: slot.slot_ms, outcome: now, run_since_ms })
  }
  return { ...runs, recent, run: runAtEnd(recent), ahead: joinAhead(runs, recent, interval_ms) }
}

/** Returns the start of the run with a slot; `before` is that of the slot one interval before. */
function runStart(slot_ms: number, outcome: Outcome, before: number | null): number | null {
  if (outcome === 'false') return null
  return outcome === 'true' ? (before ?? slot_ms) : before
}

function runAtEnd(recent: readonly RecentSlot[]): Run | null {
  const last = recent.at(-1)
  if (last === undefined || last.run_since_ms === null) return null
  return { since_ms: last.run_since_ms, until_ms: last.slot_ms }
}

/** Joins the run ahead with the run of the newest slot, or cuts it from a run that ended. */
function joinAhead(
  { ahead, slot_ms }: Runs,
  recent: readonly RecentSlot[],
  interval_ms: number,
): Run | null {
  if (slot_ms === null) return ahead
  return cutAhead(ahead, runAtEnd(recent), slot_ms, interval_ms)
}
