import { backOff } from '../../../kernel/back-off.ts'
import { durationMs } from '../../../kernel/duration.ts'
import type { Rule } from '../rules/rule.ts'
import type { EvaluatorSettings } from './evaluator-settings.ts'

/** The last evaluation of a rule: its last complete slot, and whether it waits. */
export type LastEvaluation = {
  last_slot: string | null
  evaluated_at: string | null
  partial: boolean | null
  failures: number | null
}

type Waits = Pick<EvaluatorSettings, 'retry_ms' | 'retry_ms_max' | 'partial_ms'>

/**
 * Returns the time from which a rule is due: its next slot has ended `delay` ago, and a failure, or
 * missing rows, were given time. `-Infinity` before its first slot.
 */
export function nextDue(
  rule: Pick<Rule, 'interval' | 'delay'>,
  last: LastEvaluation,
  waits: Waits,
): number {
  return Math.max(endOfNextSlot(rule, last.last_slot), endOfWait(last, waits))
}

function endOfNextSlot(
  { interval, delay }: Pick<Rule, 'interval' | 'delay'>,
  last_slot: string | null,
): number {
  if (last_slot === null) return Number.NEGATIVE_INFINITY
  const interval_ms = durationMs(interval)
  const slots = Math.floor(Date.parse(last_slot) / interval_ms) + 1
  return slots * interval_ms + durationMs(delay)
}

function endOfWait({ evaluated_at, partial, failures }: LastEvaluation, waits: Waits): number {
  if (evaluated_at === null) return Number.NEGATIVE_INFINITY
  const { retry_ms: base_ms, retry_ms_max: max_ms, partial_ms } = waits
  const evaluated_ms = Date.parse(evaluated_at)
  if (failures !== null && failures > 0) {
    return evaluated_ms + backOff({ base_ms, max_ms }, failures)
  }
  return partial === true ? evaluated_ms + partial_ms : Number.NEGATIVE_INFINITY
}
