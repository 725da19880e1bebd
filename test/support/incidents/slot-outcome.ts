import type {
  BaselineSample,
  BurnRateSample,
  ConditionSample,
  Outcome,
  Sample,
} from '../../../src/capabilities/incidents/evaluation/contract.ts'
import { totalSignals } from '../../../src/capabilities/incidents/rules/condition-kinds.ts'
import type { Rule } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { type Severity, severities } from '../../../src/model/severity.ts'

/** The judgement of one sample, without regard to its slot. */
export type Judgement = {
  readonly outcome: Outcome
  /** Whether the window has rows. */
  readonly has_data: boolean
  /** Whether rows that arrive later cannot turn the outcome from true to false. */
  readonly is_certain: boolean
  readonly severity: Severity
  readonly tier: number | null
}

/** A tier of a burn rate with its severity. */
export type Tier = {
  readonly factor: number
  readonly severity: Severity
  readonly long: string
  readonly short: string
}

/** Judges a sample of any kind but `event`. `was_seen`: the group had data before. */
export function judge(rule: Rule, sample: Sample, was_seen: boolean): Judgement {
  const plain = { severity: rule.severity, tier: null, is_certain: false }
  if (sample.kind === 'burn_rate') return { ...plain, ...judgeBurnRate(rule, sample, was_seen) }
  if (sample.kind === 'event') throw new Error('Samples of event rules have no outcome.')
  if (rule.condition?.signal === 'ingest_lag') {
    const isTrue = sample.lag_ms > durationMs(rule.condition.longer_than)
    return { ...plain, outcome: isTrue ? 'true' : 'false', has_data: true, is_certain: isTrue }
  }
  const has_data = sample.value !== null
  const outcome = outcomeOfValue(rule, sample, was_seen)
  const is_certain = has_data && outcome === 'true' && onlyGrows(rule)
  return { ...plain, outcome, has_data, is_certain }
}

function outcomeOfValue(
  rule: Rule,
  sample: ConditionSample | BaselineSample,
  was_seen: boolean,
): Outcome {
  const { value, samples } = sample
  if (rule.condition?.signal === 'absent') {
    if (value !== null) return 'false'
    return was_seen ? 'true' : 'undecided'
  }
  if (value === null) return outcomeWithoutData(rule, was_seen)
  if (sample.kind === 'baseline') {
    if (sample.history.length < 7) return 'undecided'
    return isAboveBaseline(rule, value, sample) ? 'true' : 'false'
  }
  const condition = rule.condition
  if (condition === undefined || !('op' in condition)) throw new Error('No condition.')
  const isTrue =
    samples >= condition.min_samples &&
    {
      gt: value > Number(condition.threshold),
      gte: value >= Number(condition.threshold),
      lt: value < Number(condition.threshold),
      lte: value <= Number(condition.threshold),
    }[condition.op]
  return isTrue ? 'true' : 'false'
}

function outcomeWithoutData(rule: Rule, was_seen: boolean): Outcome {
  if (!was_seen) return 'undecided'
  return ({ ok: 'false', alerting: 'true', keep: 'undecided' } as const)[rule.no_data ?? 'ok']
}

function isAboveBaseline(rule: Rule, value: number, { samples, history }: BaselineSample) {
  const baseline = rule.baseline
  if (baseline === undefined) throw new Error('No baseline.')
  const middle = median(history)
  const mad = median(history.map((past) => Math.abs(past - middle)))
  return [
    samples >= baseline.min_samples,
    value > baseline.max_ratio * middle,
    value > middle + 5 * mad,
    value > baseline.floor,
  ].every(Boolean)
}

/** Returns the mean of the one or two middle values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0
  const high = sorted[Math.floor(sorted.length / 2)] ?? 0
  return (low + high) / 2
}

/** Returns whether the value can only grow, and the rule fires on large values. */
function onlyGrows({ condition, baseline }: Rule): boolean {
  const totals: readonly string[] = totalSignals
  if (baseline !== undefined) return totals.includes(baseline.signal) && baseline.per !== 'task'
  if (condition === undefined || !('op' in condition)) return false
  const isUpward = condition.op === 'gt' || condition.op === 'gte'
  return totals.includes(condition.signal) && condition.per !== 'task' && isUpward
}

function judgeBurnRate(rule: Rule, { tiers }: BurnRateSample, was_seen: boolean) {
  const has_data = tiers.some(({ long }) => long.total > 0)
  const filled = tiers.filter(({ is_filled }) => is_filled)
  const burning = effectiveTiersOf(rule).filter((tier, index) => {
    const sample = tiers[index]
    return sample !== undefined && burns(rule, tier, sample)
  })
  const fastest = burning[0]
  if (fastest !== undefined) {
    const { severity, factor } = fastest
    return { outcome: 'true' as const, has_data, severity, tier: factor }
  }
  if (filled.length === 0) return { outcome: 'undecided' as const, has_data }
  if (filled.every(({ long }) => long.total === 0)) {
    return { outcome: outcomeWithoutData(rule, was_seen), has_data }
  }
  return { outcome: 'false' as const, has_data }
}

function burns(rule: Rule, tier: Tier, sample: BurnRateSample['tiers'][number]): boolean {
  const { objective = 0, min_bad = 0 } = rule.burn_rate ?? {}
  const { long, short, is_filled } = sample
  const limit = millionths(tier.factor) * (1_000_000n - millionths(objective))
  const isFast = [long, short].every(({ bad, total }) => {
    return total > 0 && BigInt(bad) * 10n ** 12n > BigInt(total) * limit
  })
  return is_filled && long.bad >= min_bad && isFast
}

/** Returns a number with at most six decimals as a whole number of millionths. */
function millionths(value: number): bigint {
  return BigInt(Math.round(value * 1_000_000))
}

const standardTiers = [
  { factor: 14.4, long: '1h', short: '5m', severity: undefined },
  { factor: 6, long: '6h', short: '30m', severity: undefined },
  { factor: 3, long: '1d', short: '2h', severity: undefined },
  { factor: 1, long: '3d', short: '6h', severity: undefined },
]

/**
 * Returns the tiers of a burn rate, the largest factor first, with their severities: of the rule
 * for the first, then one lower each, at least `low`, and never above the rule's.
 */
export function effectiveTiersOf({ burn_rate, severity }: Rule): Tier[] {
  if (burn_rate === undefined) return []
  const tiers = burn_rate.tiers ?? standardTiers
  const possible = tiers.filter(({ factor }) => factor * (1 - burn_rate.objective) < 1)
  const own = severities.indexOf(severity)
  return possible
    .toSorted((a, b) => b.factor - a.factor)
    .map((tier, index) => {
      const lowered = Math.min(own, Math.max(own - index, severities.indexOf('low')))
      return { ...tier, severity: tier.severity ?? severities[lowered] ?? severity }
    })
}
