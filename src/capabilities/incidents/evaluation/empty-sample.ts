import { effectiveTiers } from '../rules/burn-tiers.ts'
import type { Rule } from '../rules/rule.ts'
import type { Sample } from './contract.ts'

/** Returns the sample of a group without rows in the windows of a slot. */
export function emptySample(rule: Rule, lag_ms: number): Sample {
  if (rule.event !== undefined) return { kind: 'event', matches: [], lag_ms }
  if (rule.baseline !== undefined) {
    return { kind: 'baseline', value: null, samples: 0, history: [], lag_ms }
  }
  if (rule.burn_rate === undefined) return { kind: 'condition', value: null, samples: 0, lag_ms }
  // A group that had rows before the long window has a history that fills it.
  const empty = { bad: 0, total: 0 }
  const tiers = effectiveTiers(rule).map(() => ({ long: empty, short: empty, is_filled: true }))
  return { kind: 'burn_rate', tiers, lag_ms }
}

/** Returns the value and the rows of a sample, for the series of an incident. */
export function sampleValue(sample: Sample): { value: number | null; samples: number } {
  if (sample.kind === 'event') return { value: sample.matches.length, samples: 0 }
  if (sample.kind !== 'burn_rate') return { value: sample.value, samples: sample.samples }
  const long = sample.tiers[0]?.long ?? { bad: 0, total: 0 }
  return { value: long.total === 0 ? null : long.bad / long.total, samples: long.total }
}
