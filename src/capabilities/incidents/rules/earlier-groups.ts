import { durationMs } from '../../../kernel/duration.ts'
import { effectiveTiers } from './burn-tiers.ts'
import type { Rule } from './rule.ts'
import { forgetAfterMs } from './rule-faults.ts'

/**
 * Returns a rule whose measurement has the groups that a rule would know, had it been evaluated
 * before: those with rows in its window or in the time after which a group is forgotten. A group that
 * was never seen is not absent, so that a new or edited rule would not notice who is silent already.
 * Returns undefined for rules that silence does not fire.
 */
export function earlierGroupsRule(rule: Rule): Rule | undefined {
  const { condition, burn_rate, baseline, no_data, ...rest } = rule
  const isAbsent = condition?.signal === 'absent'
  if (!isAbsent && no_data !== 'alerting') return undefined
  const found = widest(rule)
  if (found === undefined) return undefined
  const window = `${(found.window_ms + forgetAfterMs) / 1000}s`
  const { signal } = found
  if (signal === 'absent') return { ...rest, condition: { signal, window } }
  return { ...rest, condition: { signal, window, op: 'gt', threshold: 0, min_samples: 1 } }
}

/** Returns the signal and the longest window of a rule; undefined for one that always has data. */
function widest(rule: Rule) {
  const { condition, burn_rate, baseline } = rule
  if (baseline !== undefined) return { signal: baseline.signal, window_ms: hour_ms }
  if (burn_rate !== undefined) {
    const windows_ms = effectiveTiers(rule).map(({ long }) => durationMs(long))
    return { signal: burn_rate.signal, window_ms: Math.max(...windows_ms) }
  }
  if (condition === undefined || condition.signal === 'ingest_lag') return undefined
  return { signal: condition.signal, window_ms: durationMs(condition.window) }
}

const hour_ms = 3_600_000
