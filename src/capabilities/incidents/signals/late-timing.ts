import { durationMs } from '../../../kernel/duration.ts'
import { maxLateSlots } from '../evaluation/runs.ts'
import type { Rule } from '../rules/rule.ts'

/** How late a call may become known and still count at its end. */
export type LateTiming = {
  /** Time for which the slot of an end is evaluated again. */
  repeated_ms: number
  /** Time that a slot waits for late rows. */
  delay_ms: number
}

/** Returns the timing of a rule: its repeated slots, and its delay. */
export function lateTiming({ interval, delay }: Pick<Rule, 'interval' | 'delay'>): LateTiming {
  return { repeated_ms: maxLateSlots * durationMs(interval), delay_ms: durationMs(delay) }
}

/** The timing of a rule with default fields. The sums of minutes, which rules share, have it. */
export const defaultTiming: LateTiming = lateTiming({ interval: '1m', delay: '1m' })
