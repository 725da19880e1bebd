import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'

/** The clock of an evaluator and the newest settled slot of a rule, in ms. */
export type Clock = { readonly now_ms: number; readonly slot_ms: number }

/** A slot that is due: evaluated, or skipped and marked `gap`. */
export type DueSlot = {
  readonly end_ms: number
  readonly is_gap: boolean
  /** Whether the slot, if partial, is not evaluated again. */
  readonly is_last_attempt: boolean
}

/**
 * Returns the slots that are due, oldest first. The newest ends at the last multiple of the
 * interval that is `delay` ago. After an outage, missed slots are evaluated from the oldest, for
 * `max(for, 15 min)`; later ones are gaps, except the newest. A partial slot is due again until the
 * newest slot is that much later.
 */
export function dueSlots(rule: Rule, { now_ms, slot_ms }: Clock): DueSlot[] {
  const interval_ms = durationMs(rule.interval)
  const limit_ms = Math.max(durationMs(rule.for), 15 * 60_000)
  const newest_ms = Math.floor((now_ms - durationMs(rule.delay)) / interval_ms) * interval_ms
  const due: DueSlot[] = []
  for (let end_ms = slot_ms + interval_ms; end_ms + durationMs(rule.delay) <= now_ms; ) {
    const isNewest = end_ms + interval_ms + durationMs(rule.delay) > now_ms
    const is_gap = end_ms - slot_ms > limit_ms && !isNewest
    due.push({ end_ms, is_gap, is_last_attempt: newest_ms - end_ms >= limit_ms })
    end_ms += interval_ms
  }
  return due
}
