import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import type { Slot } from './contract.ts'
import { maxLateSlots } from './runs.ts'

/** Missed slots are evaluated up to this age, or up to `for` if that is longer. */
export const catchUpMs = 15 * 60_000

/** The slots of one evaluation of a rule, in the order of evaluation: first late, then first. */
export type SlotPlan = {
  /** Ends of the last complete slots, for late rows; oldest first. */
  late: readonly number[]
  first: readonly Pick<Slot, 'end_ms' | 'is_last_attempt'>[]
  /** Slots that are skipped and marked as a gap: the end of the first and of the last one. */
  gap: { from_ms: number; to_ms: number } | null
}

type Timing = Pick<Rule, 'interval' | 'delay' | 'for'>

/** Returns the end of the newest slot whose rows had the time of `delay` to arrive. */
export function newestSlot(rule: Timing, now_ms: number): number {
  const interval_ms = durationMs(rule.interval)
  return Math.floor((now_ms - durationMs(rule.delay)) / interval_ms) * interval_ms
}

/**
 * Plans an evaluation: the last complete slots again, then the missed ones, oldest first, up to the
 * catch-up limit, then the newest one. A slot as old as the limit has its last attempt, so that a
 * backlog cannot hold up the rule. `last_ms` is the rule's last slot, null before the first one.
 */
export function planSlots(rule: Timing, last_ms: number | null, now_ms: number): SlotPlan {
  const newest_ms = newestSlot(rule, now_ms)
  if (last_ms === null) {
    return { late: [], first: [{ end_ms: newest_ms, is_last_attempt: false }], gap: null }
  }
  const interval_ms = durationMs(rule.interval)
  const limit_ms = Math.max(durationMs(rule.for), catchUpMs)
  const caughtUpMs = last_ms + Math.floor(limit_ms / interval_ms) * interval_ms
  const first: SlotPlan['first'][number][] = []
  for (let end_ms = last_ms + interval_ms; end_ms <= newest_ms; end_ms += interval_ms) {
    if (end_ms > caughtUpMs) end_ms = newest_ms
    first.push({ end_ms, is_last_attempt: newest_ms - end_ms >= limit_ms })
  }
  const isGap = newest_ms > caughtUpMs + interval_ms
  const gap = { from_ms: caughtUpMs + interval_ms, to_ms: newest_ms - interval_ms }
  return { late: lateSlots(last_ms, interval_ms), first, gap: isGap ? gap : null }
}

function lateSlots(last_ms: number, interval_ms: number): number[] {
  return Array.from(
    { length: maxLateSlots },
    (_, at) => last_ms - (maxLateSlots - 1 - at) * interval_ms,
  )
}
