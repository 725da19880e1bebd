import { z } from 'zod'
import {
  dimensions,
  measuredSignals,
  rateSignals,
  scoreSignals,
  signals,
} from '../../../capabilities/incidents/rules/index.ts'
import { durationMs, durationPattern } from '../../../kernel/duration.ts'
import { findingKinds } from '../../../model/finding-kind.ts'
import { severities } from '../../../model/severity.ts'
import { labelField } from '../../common-spec.ts'

/** Numbers up to a bound, as a pattern of days. */
const daysUpTo = { '1d': '0*[01]', '7d': '0*[0-7]', '30d': '0*([0-9]|[12][0-9]|30)' } as const

/**
 * Defines a duration between two bounds. CEL has no days: a sum with days, such as `1d12h`, is
 * compared by `ruleBody` alone.
 */
export function duration(min: string, max: '1h' | keyof typeof daysUpTo) {
  const hours = durationMs(max) / durationMs('1h')
  const fits = `duration(self) >= duration('${min}') && duration(self) <= duration('${hours}h')`
  const days =
    max === '1h'
      ? "!self.matches('^[0-9]+d$')"
      : `!self.matches('^[0-9]+d$') || self.matches('^${daysUpTo[max]}d$')`
  const rule = `self.contains('d') ? (${days}) : (${fits})`
  const message = `expected a duration from ${min} to ${max}`
  const rules = [{ rule, message }]
  return z.string().max(28).regex(durationPattern).meta({ 'x-kubernetes-validations': rules })
}

/** A number as text: custom resources have no fractions. */
const decimal = z
  .string()
  .max(26)
  .regex(/^-?[0-9]{1,15}(\.[0-9]{1,9})?$/)

const count = z.int().min(1).max(1_000_000)

export const severity = z.enum(severities)

const lacks = (fields: readonly string[]) =>
  fields.map((field) => `!has(self.${field})`).join(' && ')

export const condition = z
  .strictObject({
    signal: z.enum(signals).describe('Measured signal.'),
    window: duration('1m', '30d')
      .optional()
      .describe(
        'Time over which the value is computed, 1m–30d. For `absent`: the time without rows, 1m–7d. Not for `ingest_lag`.',
      ),
    op: z
      .enum(['gt', 'gte', 'lt', 'lte'])
      .optional()
      .describe('Comparison of the value with the threshold. Default: gt.'),
    threshold: decimal
      .optional()
      .describe(
        'Threshold as decimal text, in the unit of the signal: milliseconds for latencies, US dollars for `cost`, 0–1 for rates and scores.',
      ),
    per: z
      .enum(['hour', 'task'])
      .optional()
      .describe(
        'For `cost` and `tokens`: `hour` divides by the hours of the window, `task` by its tasks.',
      ),
    minSamples: count.optional().describe('Fewest samples of the window. Default: 1.'),
    longerThan: duration('10s', '1d')
      .optional()
      .describe('For `ingest_lag`: lag above which the rule fires, 10s–1d. Default: 5m.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "self.signal in ['absent', 'ingest_lag'] || (has(self.threshold) && has(self.window))",
        message: 'expected window and threshold',
      },
      {
        rule: "self.signal != 'absent' || has(self.window)",
        message: 'window: required with absent',
      },
      {
        rule: `!(self.signal in ['absent', 'ingest_lag']) || (${lacks(['op', 'threshold', 'per', 'minSamples'])})`,
        message: 'absent and ingest_lag have no op, threshold, per and minSamples',
      },
      {
        rule: "self.signal == 'ingest_lag' || !has(self.longerThan)",
        message: 'longerThan: only ingest_lag has it',
      },
      {
        rule: `!(self.signal in ${JSON.stringify([...rateSignals, ...scoreSignals])}) || !has(self.threshold) || self.threshold.matches('^(0(\\\\.[0-9]+)?|1(\\\\.0+)?)$')`,
        message: 'threshold: expected 0 to 1, as the signal is',
      },
      {
        rule: "self.signal != 'ingest_lag' || !has(self.window)",
        message: 'window: not for ingest_lag',
      },
    ],
  })

const burnTier = z.strictObject({
  factor: decimal.describe('Multiple of the error budget, as decimal text: `14.4`.'),
  long: duration('5m', '30d').describe('Long window, 5m–30d.'),
  short: duration('1m', '7d').describe('Short window, 1m–7d, shorter than `long`.'),
  severity: severity
    .optional()
    .describe(
      'Severity of the tier. Default: the severity of the rule for the fastest tier, one lower for each slower tier.',
    ),
})

export const burnRate = z
  .strictObject({
    signal: z.enum(rateSignals).describe('Share of bad items.'),
    objective: decimal.describe('Share of good items to reach, as decimal text: `0.95`.'),
    minBad: count.default(5).describe('Fewest bad items of the long window.'),
    preset: z
      .enum(['standard'])
      .optional()
      .describe(
        '`standard`: 14.4 (1h + 5m), 6 (6h + 30m), 3 (1d + 2h), 1 (3d + 6h), without the tiers that can never fire at the objective.',
      ),
    tiers: z.array(burnTier).min(1).max(6).optional().describe('Tiers; exclusive with `preset`.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.preset) != has(self.tiers)',
        message: 'expected either preset or tiers',
      },
    ],
  })

export const baseline = z.strictObject({
  signal: z.enum(measuredSignals).describe('Measured signal: a rate, a latency, a sum or a count.'),
  per: z.enum(['task']).optional().describe('For `cost` and `tokens`: the mean per task.'),
  maxRatio: decimal.describe('Multiple of the median that is exceeded, as decimal text.'),
  floor: decimal.describe('Value below or at which the rule never fires, as decimal text.'),
  minSamples: count.default(1).describe('Fewest samples of the hour.'),
})

const eventMatch = z.strictObject({
  source: z.enum(['finding', 'verification', 'ledger']).describe('Records that may match.'),
  kinds: z
    .array(z.enum(findingKinds))
    .min(1)
    .max(findingKinds.length)
    .optional()
    .describe('Kinds of findings.'),
  types: z
    .array(
      z
        .string()
        .max(64)
        .regex(/^[a-z][a-z0-9_]{0,63}$/),
    )
    .min(1)
    .max(50)
    .optional()
    .describe('Types, such as `repeat_call` or, in the ledger, `lost`.'),
  minSeverity: severity.optional().describe('Lowest severity of findings.'),
  minConfidence: decimal
    .optional()
    .describe('Lowest confidence of findings, 0–1, as decimal text.'),
})

export const event = z.strictObject({
  match: eventMatch.describe('Findings, verifications or ledger entries that match all fields.'),
  count: z.int().min(1).max(1_000).default(1).describe('Matches that open an incident.'),
  within: duration('10s', '7d')
    .optional()
    .describe(
      'Time within which `count` matches are stored, 10s–7d. Required if `count` is above 1.',
    ),
})

const globs = z.array(z.string().min(1).max(256)).min(1).max(50).optional()

export const selector = z
  .strictObject({
    model: globs.describe('Models. `*` matches any characters, `?` one character.'),
    provider: globs.describe('Providers.'),
    environment: globs.describe('Environments.'),
    taskName: globs.describe('Names of tasks.'),
    task_name: globs.describe('Names of tasks, by the name of the API. Either this or `taskName`.'),
    release: globs.describe('Releases.'),
    tag: globs.describe('Tags.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '!has(self.taskName) || !has(self.task_name)',
        message: 'expected either taskName or task_name',
      },
    ],
  })

/** Dimensions by their names in the API, or in resources. */
export const groupBy = z.array(z.enum([...dimensions, 'taskName'])).max(3)

const labelNames = {
  rule: "self.all(name, name.matches('^[a-z][a-z0-9_]{0,62}$'))",
  message: 'expected names such as team_name: a letter, then letters, digits and _',
}

/** Names and values that incidents carry. */
export const textMap = (length_max: number) =>
  z
    .record(z.string(), z.string().max(length_max))
    .default({})
    .meta({ maxProperties: 50, 'x-kubernetes-validations': [labelNames] })

export const grouping = z.strictObject({
  wait: duration('0s', '1h').default('30s').describe('Wait before the first message, up to 1h.'),
  interval: duration('0s', '1d')
    .default('5m')
    .describe('Least time between two messages, up to 1d.'),
  repeat: duration('5m', '7d').default('4h').describe('Time between reminders, 5m–7d.'),
})

export const inhibition = z
  .strictObject({
    rule: labelField.optional().describe('Name of a rule of the project.'),
    labels: z
      .record(z.string(), z.string().max(256))
      .optional()
      .meta({ maxProperties: 50 })
      .describe('Labels that a rule must have.'),
    equal: groupBy.min(1).describe('Dimensions of `groupBy` with equal values in both incidents.'),
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: 'has(self.rule) != has(self.labels)', message: 'expected either rule or labels' },
    ],
  })

export const escalationStep = z.strictObject({
  after: duration('1m', '7d').describe('Time since the opening or reopening, 1m–7d.'),
  notify: z.array(labelField).min(1).max(20).describe('Names of channels.'),
})
