import { z } from 'zod'
import { durationMs, durationPattern } from '../../../kernel/duration.ts'
import { findingKinds } from '../../../model/finding-kind.ts'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { severities } from '../../../model/severity.ts'

/** Signals that are sums or counts: they can only grow while rows of the window still arrive. */
export const totalSignals = [
  'cost',
  'tokens',
  'loop_count',
  'failure_count',
  'context_failure_count',
  'ingest_rejected',
  'ingest_lost',
] as const

/** Signals that are the share of bad items of all items, 0–1. Burn rates accept only these. */
export const rateSignals = [
  'error_rate',
  'loop_rate',
  'failure_rate',
  'unsupported_claim_rate',
  'feedback_negative_rate',
] as const

/** Signals in milliseconds: the 95th percentile by nearest rank. */
export const latencySignals = ['latency_p95', 'ttft_p95'] as const

/** Signals that are scores, 0–1, where higher is better: the mean weighted by samples. */
export const scoreSignals = ['context_health', 'trust_score'] as const

/** Signals that a condition compares with a threshold. */
export const measuredSignals = [
  ...rateSignals,
  ...latencySignals,
  ...totalSignals,
  ...scoreSignals,
] as const
export type MeasuredSignal = (typeof measuredSignals)[number]

/** All signals. `ingest_lag` and `absent` have no threshold, only fields of their own. */
export const signals = [...measuredSignals, 'ingest_lag', 'absent'] as const
export type Signal = (typeof signals)[number]

/** Defines a duration field between two bounds, such as `10m`. */
export function duration(least: string, most: string) {
  const [min_ms, max_ms] = [durationMs(least), durationMs(most)]
  const error = expected(`a duration from ${least} to ${most}, such as 10m`)
  return z
    .string()
    .regex(durationPattern, { error, abort: true })
    .refine((text) => durationMs(text) >= min_ms && durationMs(text) <= max_ms, { error })
}

const threshold = z
  .union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,9})?$/)], {
    error: expected('a number, or a number as decimal text'),
  })
  .meta({ id: 'Threshold' })

/** The signal `absent`: no row of the group in the window, although the group had rows before. */
const absentCondition = record('AbsentCondition', {
  signal: z.literal('absent'),
  window: duration('1m', '7d').describe('Time without rows after which the group is absent.'),
})

/** The signal `ingest_lag`: the backlog of the project is older than `longer_than`. */
const lagCondition = record('IngestLagCondition', {
  signal: z.literal('ingest_lag'),
  longer_than: duration('10s', '1d').default('5m').describe('Lag above which the rule fires.'),
})

/** `value(signal, window, group) op threshold`, on at least `min_samples` samples. */
const measuredCondition = record('MeasuredCondition', {
  signal: z.enum(measuredSignals).meta({ id: 'MeasuredSignal' }),
  window: duration('1m', '30d').describe('Time over which the value is computed.'),
  op: z.enum(['gt', 'gte', 'lt', 'lte']).meta({ id: 'ThresholdOperator' }).default('gt'),
  threshold: threshold.describe(
    'A number, or the same number as decimal text, in the unit of the signal: milliseconds for latencies, US dollars for `cost`, 0–1 for rates and scores.',
  ),
  per: z
    .enum(['hour', 'task'])
    .meta({ id: 'MeasuredPer' })
    .optional()
    .describe(
      'For `cost` and `tokens`: `hour` divides by the hours of the window, `task` by its tasks.',
    ),
  min_samples: z.int().min(1).max(1_000_000).default(1).describe('Fewest samples of the window.'),
})

export const conditionSchema = z
  .discriminatedUnion('signal', [absentCondition, lagCondition, measuredCondition])
  .meta({ id: 'ThresholdCondition' })
export type Condition = z.output<typeof conditionSchema>

/** A pair of windows. The tier fires while both burn faster than `factor`. */
const burnTier = record('BurnRateTier', {
  factor: z.number().positive().max(1000).describe('Multiple of the error budget.'),
  long: duration('5m', '30d'),
  short: duration('1m', '7d'),
  severity: z
    .enum(severities)
    .optional()
    .describe(
      'Default: the severity of the rule for the fastest tier, one lower for each slower tier, at least `low`.',
    ),
})
export type BurnTier = z.output<typeof burnTier>

/** Bad share of both windows > factor × (1 − objective), with `min_bad` bad items in the long one. */
export const burnRateSchema = record('BurnRateCondition', {
  signal: z.enum(rateSignals).meta({ id: 'RateSignal' }),
  objective: z.number().gt(0).lt(1).describe('Share of good items to reach, such as 0.95.'),
  min_bad: z.int().min(1).max(1_000_000).default(5).describe('Fewest bad items, long window.'),
  preset: z
    .enum(['standard'])
    .meta({ id: 'BurnRatePreset' })
    .optional()
    .describe(
      '`standard`: 14.4 (1h + 5m), 6 (6h + 30m), 3 (1d + 2h), 1 (3d + 6h), without the tiers that can never fire at the objective.',
    ),
  tiers: z.array(burnTier).min(1).max(6).optional().describe('Tiers; exclusive with `preset`.'),
})
export type BurnRate = z.output<typeof burnRateSchema>

/** The value of the last hour against the values of the same hour of the last 28 days. */
export const baselineSchema = record('BaselineCondition', {
  signal: z
    .enum([...rateSignals, ...latencySignals, ...totalSignals])
    .meta({ id: 'BaselineSignal' }),
  per: z
    .enum(['task'])
    .meta({ id: 'BaselinePer' })
    .optional()
    .describe('For `cost` and `tokens`: the mean per task.'),
  max_ratio: z.number().gt(1).max(1000).describe('Multiple of the median that is exceeded.'),
  floor: z.number().min(0).describe('Value below or at which the rule never fires.'),
  min_samples: z.int().min(1).max(1_000_000).default(1).describe('Fewest samples of the hour.'),
})
export type Baseline = z.output<typeof baselineSchema>

/** Findings, verifications or ledger entries that match all fields. */
const eventMatch = record('EventMatch', {
  source: z.enum(['finding', 'verification', 'ledger']),
  kinds: z
    .array(z.enum(findingKinds))
    .min(1)
    .max(findingKinds.length)
    .optional()
    .describe('Kinds of findings.'),
  types: z
    .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/))
    .min(1)
    .max(50)
    .optional()
    .describe('Types, such as `repeat_call` or, in the ledger, `lost`.'),
  min_severity: z.enum(severities).optional().describe('Lowest severity of findings.'),
  min_confidence: z.number().min(0).max(1).optional().describe('Lowest confidence of findings.'),
})
export type EventMatch = z.output<typeof eventMatch>

/** `count` matches of a group within a time; by default a single match. */
export const eventSchema = record('EventCondition', {
  match: eventMatch,
  count: z.int().min(1).max(1000).default(1).describe('Matches that open an incident.'),
  within: duration('10s', '7d')
    .optional()
    .describe('Time within which `count` matches are stored. Required if `count` is above 1.'),
})
