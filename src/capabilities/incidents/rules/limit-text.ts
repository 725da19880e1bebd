import { durationMs } from '../../../kernel/duration.ts'
import { burnThreshold, effectiveTiers } from './burn-tiers.ts'
import { type Condition, latencySignals } from './condition-kinds.ts'
import type { Rule } from './rule.ts'

const operators = { gt: '>', gte: '≥', lt: '<', lte: '≤' } as const

/** Returns the limit of a rule for people, such as `> 4000 ms over 10m`; null for event rules. */
export function limitText(rule: Rule): string | null {
  const { condition, baseline, burn_rate } = rule
  if (condition !== undefined) return conditionText(condition, unitOf(rule))
  if (baseline !== undefined) {
    return `> ${baseline.max_ratio} × the usual value of the hour, and > ${withUnit(baseline.floor, unitOf(rule))}`
  }
  const [fastest] = effectiveTiers(rule)
  if (burn_rate === undefined || fastest === undefined) return null
  const share = burnThreshold(fastest.factor, burn_rate.objective)
  return `> ${share} over ${fastest.long} and ${fastest.short}`
}

function conditionText(condition: Condition, unit: string): string {
  if (condition.signal === 'absent') return `no call for ${condition.window}`
  if (condition.signal === 'ingest_lag') return `> ${condition.longer_than}`
  const { op, threshold, window } = condition
  return `${operators[op]} ${withUnit(threshold, unit)} over ${window}`
}

/** Returns a value with its unit. */
export function withUnit(value: number | string, unit: string): string {
  return unit === '' ? String(value) : `${value} ${unit}`
}

/** Returns the unit of the values of a rule; empty for shares, counts and event rules. */
export function unitOf({ condition, baseline }: Rule): string {
  const measured = condition ?? baseline
  if (measured === undefined) return ''
  const { signal } = measured
  if (latencySignals.some((one) => one === signal) || signal === 'ingest_lag') return 'ms'
  const name = { cost: 'US dollars', tokens: 'tokens' }[String(signal)]
  if (name === undefined) return ''
  const per = 'per' in measured ? measured.per : undefined
  return per === undefined ? name : `${name} per ${per}`
}

/** Returns the value that the series of a rule is compared with; null if it depends on other data. */
export function thresholdOf(rule: Rule): number | null {
  const { condition, burn_rate } = rule
  if (burn_rate !== undefined) {
    const [fastest] = effectiveTiers(rule)
    return fastest === undefined ? null : burnThreshold(fastest.factor, burn_rate.objective)
  }
  if (condition === undefined || condition.signal === 'absent') return null
  if (condition.signal === 'ingest_lag') return durationMs(condition.longer_than)
  return Number(condition.threshold)
}
