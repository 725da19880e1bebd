import { durationMs } from '../../../kernel/duration.ts'
import type { Severity } from '../../../model/severity.ts'
import { burnThreshold, effectiveTiers } from '../rules/burn-tiers.ts'
import { type Baseline, type Condition, totalSignals } from '../rules/condition-kinds.ts'
import type { Rule } from '../rules/rule.ts'
import type {
  BadAndTotal,
  BaselineSample,
  BurnRateSample,
  ConditionSample,
  GroupState,
  Outcome,
  Sample,
} from './contract.ts'

/** A sample of a rule that is evaluated at slots. */
export type SlotSample = Exclude<Sample, { kind: 'event' }>

/** The verdict on a sample: its outcome, and the facts that `step` keeps of it. */
export type Verdict = {
  outcome: Outcome
  has_data: boolean
  /** True if late rows cannot change the outcome, which is then true. */
  is_certain: boolean
  /** Severity and factor with which a true outcome fires. */
  severity: Severity
  tier: number | null
}

/** Fewest values of a baseline. With fewer the rule waits. */
const minBaselineValues = 7

/** Distance from the median, in median absolute deviations, that a baseline exceeds. */
const deviations_min = 5

/** Judges a sample as `Step` describes. `seen_ms` null is a group that never had data. */
export function judge(rule: Rule, sample: SlotSample, seen_ms: GroupState['seen_ms']): Verdict {
  const verdict = { severity: rule.severity, tier: null, is_certain: false }
  if (sample.kind === 'burn_rate') return { ...verdict, ...judgeBurnRate(rule, sample, seen_ms) }
  const { condition, baseline } = rule
  const has_data = condition?.signal === 'ingest_lag' || sample.value !== null
  const noData = seen_ms === null ? 'undecided' : noDataOutcome(rule)
  if (sample.kind === 'baseline') {
    if (baseline === undefined) throw new Error('a baseline sample needs a baseline rule')
    const outcome = has_data ? judgeBaseline(baseline, sample) : noData
    const is_certain = has_data && outcome === 'true' && isTotal(baseline)
    return { ...verdict, outcome, has_data, is_certain }
  }
  if (condition === undefined) throw new Error('a condition sample needs a condition rule')
  const outcome =
    has_data || condition.signal === 'absent' ? judgeCondition(condition, sample, seen_ms) : noData
  const is_certain = has_data && outcome === 'true' && canOnlyGrow(condition)
  return { ...verdict, outcome, has_data, is_certain }
}

/** Returns whether the window of a sample may lack rows that were accepted. */
export function isPartial(rule: Rule, sample: Pick<Sample, 'lag_ms'>): boolean {
  return sample.lag_ms > durationMs(rule.delay)
}

function noDataOutcome({ no_data = 'ok' }: Rule): Outcome {
  return ({ ok: 'false', alerting: 'true', keep: 'undecided' } as const)[no_data]
}

function toOutcome(isTrue: boolean): Outcome {
  return isTrue ? 'true' : 'false'
}

function judgeCondition(
  condition: Condition,
  { value, samples, lag_ms }: ConditionSample,
  seen_ms: GroupState['seen_ms'],
): Outcome {
  if (condition.signal === 'ingest_lag') {
    return toOutcome(lag_ms > durationMs(condition.longer_than))
  }
  if (condition.signal === 'absent') {
    if (value !== null) return 'false'
    return seen_ms === null ? 'undecided' : 'true'
  }
  if (value === null || samples < condition.min_samples) return 'false'
  return toOutcome(compare(value, condition.op, Number(condition.threshold)))
}

function compare(value: number, op: 'gt' | 'gte' | 'lt' | 'lte', threshold: number): boolean {
  switch (op) {
    case 'gt':
      return value > threshold
    case 'gte':
      return value >= threshold
    case 'lt':
      return value < threshold
    case 'lte':
      return value <= threshold
  }
}

/** Returns whether a true outcome remains true while more rows arrive. */
function canOnlyGrow(condition: Condition): boolean {
  if (condition.signal === 'ingest_lag') return true
  if (condition.signal === 'absent') return false
  return isTotal(condition) && (condition.op === 'gt' || condition.op === 'gte')
}

function isTotal({ signal, per }: { signal: string; per?: string | undefined }): boolean {
  return totalSignals.some((total) => total === signal) && per !== 'task'
}

function judgeBaseline(baseline: Baseline, { value, samples, history }: BaselineSample): Outcome {
  if (history.length < minBaselineValues) return 'undecided'
  if (value === null || samples < baseline.min_samples) return 'false'
  const usual = medianOf(history)
  const deviation = medianOf(history.map((one) => Math.abs(one - usual)))
  return toOutcome(
    value > baseline.max_ratio * usual &&
      value > usual + deviations_min * deviation &&
      value > baseline.floor,
  )
}

/** Returns the middle of the values, or the mean of the two middle ones. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

function judgeBurnRate(
  rule: Rule,
  sample: BurnRateSample,
  seen_ms: GroupState['seen_ms'],
): Partial<Verdict> & Pick<Verdict, 'outcome' | 'has_data'> {
  const { burn_rate } = rule
  if (burn_rate === undefined) throw new Error('a burn-rate sample needs a burn-rate rule')
  const filled = sample.tiers.filter(({ is_filled }) => is_filled)
  const has_data = sample.tiers.some(({ long }) => long.total > 0)
  const burning = effectiveTiers(rule).find(({ factor }, at) => {
    const tier = sample.tiers[at]
    if (tier === undefined || !tier.is_filled || tier.long.bad < burn_rate.min_bad) return false
    const threshold = burnThreshold(factor, burn_rate.objective)
    return shareOf(tier.long) > threshold && shareOf(tier.short) > threshold
  })
  if (burning !== undefined) {
    return { outcome: 'true', has_data, severity: burning.severity, tier: burning.factor }
  }
  if (filled.length === 0) return { outcome: 'undecided', has_data }
  if (filled.some(({ long }) => long.total > 0)) return { outcome: 'false', has_data }
  return { outcome: seen_ms === null ? 'undecided' : noDataOutcome(rule), has_data }
}

/** Returns the share of bad items; 0 for an empty window. */
function shareOf({ bad, total }: BadAndTotal): number {
  return total > 0 ? bad / total : 0
}
