import { z } from 'zod'
import { dimensions, duration } from '../../capabilities/incidents/rules/index.ts'
import { findingKinds } from '../../model/finding-kind.ts'
import { severities } from '../../model/severity.ts'

/** A time since the start of the test. */
const time = duration('0s', '35d')

const text = z.string().min(1).max(256)
const values = z.string().max(10_000)

/** Values of the dimensions of `groupBy`, by the names that the rule uses. */
const group = z.partialRecord(z.enum(dimensions), z.string().max(256))

const inputSeries = z.strictObject({
  series: text.describe('Signal and labels: `error_rate{task_name="checkout"}`.'),
  values: values.describe('Values, one each `interval` from 0m, in the notation of promtool.'),
  samples: values
    .optional()
    .describe('Rows behind each value, for `minSamples`. Default: enough rows.'),
  history: values
    .optional()
    .describe('For baselines: values of the same hour on the days before, at most 28.'),
  rule: text.optional().describe('Rule that reads the series. Default: each rule with the signal.'),
})

const event = z.strictObject({
  at: time.describe('Time at which the record is stored.'),
  source: z.enum(['finding', 'verification', 'ledger']).default('finding').describe('Its source.'),
  kind: z.enum(findingKinds).optional().describe('Kind of the finding.'),
  type: text.optional().describe('Type of the finding; in the ledger, `lost` or `rejected`.'),
  reason: text.optional().describe('Reason in the ledger, such as `not_settled`.'),
  severity: z.enum(severities).optional().describe('Severity of the finding. Default: info.'),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Confidence of the finding. Default: 1.'),
  labels: group
    .default({})
    .describe('Dimensions of its task, for `selector` and `groupBy`. A missing one is empty text.'),
  count: z.int().min(1).max(1_000).default(1).describe('Equal records at this time.'),
})

const late = z.strictObject({
  at: time.describe('Time at which the rows arrive.'),
  series: text.describe('A series of `input_series`, written in the same way.'),
  from: time.describe('Time of the first value that the rows change.'),
  values: values.describe('Values from then on, which replace those of the series.'),
})

const period = z.strictObject({
  from: time.describe('Start, inclusive.'),
  to: time.describe('End, exclusive.'),
})

const move = z.strictObject({
  at: time.describe('Time of the action, after the evaluation of that time.'),
  type: z
    .enum(['ack', 'resolve', 'reopen', 'snooze', 'unsnooze', 'suppress', 'unsuppress'])
    .describe('Action of a person.'),
  for: duration('5m', '7d').optional().describe('Length of a snooze.'),
  rule: text.describe('Name of the rule.'),
  group: group.default({}).describe('Group of the incident.'),
})

const suppression = z.strictObject({
  matchers: z
    .array(z.looseObject({}))
    .min(1)
    .max(20)
    .describe('Matchers, as in the API: `{field: rule, value: ttft}`.'),
  windows: z.array(period).max(50).default([]).describe('Times at which it is in effect.'),
  recurrence: z.looseObject({}).optional().describe('Recurrence, as in the API.'),
  expires_at: time.optional().describe('End of the suppression.'),
})

const expectation = z.strictObject({
  at: time.describe('Time of the expectation, after all that happens at that time.'),
  rule: text.describe('Name of the rule.'),
  group: group.optional().describe('Group. Default: the group of a rule without `groupBy`.'),
  state: z
    .enum(['none', 'open', 'acknowledged', 'resolved'])
    .optional()
    .describe('State of the newest incident of the group; `none` without an incident.'),
  pending: z.boolean().optional().describe('Whether the condition is true for less than `for`.'),
  severity: z.enum(severities).optional().describe('Severity of the incident.'),
  notified: z
    .array(text)
    .optional()
    .describe('Channels with a message since the expectation before, in any order.'),
  messages: z
    .array(text)
    .optional()
    .describe('Reasons of the messages since the expectation before, in their order.'),
  count: z.int().min(0).optional().describe('Unresolved incidents of the rule, of all groups.'),
  openings: z.int().min(0).optional().describe('Openings and reopenings of the group so far.'),
  flapping: z.boolean().optional().describe('Whether the incident is flapping.'),
  late: z.boolean().optional().describe('Whether late rows opened the incident.'),
  muted: z.boolean().optional().describe('Whether messages of the incident are muted.'),
  orphaned: z.boolean().optional().describe('Whether the rules of the incident are gone.'),
})

const testCase = z.strictObject({
  name: text.describe('Name of the test, unique in the file.'),
  interval: duration('1s', '1d').default('1m').describe('Time between two values of a series.'),
  start: z.iso
    .datetime()
    .default('2026-01-05T00:00:00Z')
    .describe('Time of 0m, for recurrences and baselines.'),
  stored_for: duration('0s', '366d')
    .default('30d')
    .describe('Age of the oldest stored row at 0m. Windows that begin earlier are not evaluated.'),
  input_series: z.array(inputSeries).max(1_000).default([]).describe('Values of signals.'),
  events: z.array(event).max(10_000).default([]).describe('Records for event rules.'),
  late: z.array(late).max(1_000).default([]).describe('Rows that arrive late.'),
  gap: z.array(period).max(100).default([]).describe('Times without an evaluator.'),
  restart: z
    .array(time)
    .max(1_000)
    .default([])
    .describe('Times at which the evaluator restarts with the stored state.'),
  moves: z.array(move).max(1_000).default([]).describe('Actions of people.'),
  suppressions: z.array(suppression).max(100).default([]).describe('Suppressions.'),
  delete_rules: z
    .array(
      z.strictObject({
        at: time.describe('Time of the deletion.'),
        rule: text.describe('Name of the rule.'),
      }),
    )
    .max(1_000)
    .default([])
    .describe('Rules that are deleted during the test.'),
  expect: z.array(expectation).min(1).max(10_000).describe('Expectations, each at a time.'),
})

/** A file of tests of rules. */
export const testFileSchema = z.strictObject({
  rule_files: z
    .array(text)
    .min(1)
    .max(1_000)
    .describe('Files with IncidentRules, relative to this file.'),
  evaluation_interval: duration('1s', '1h')
    .default('1m')
    .describe('Time between two evaluations. A slot is evaluated once its `delay` has passed.'),
  tests: z.array(testCase).min(1).max(1_000).describe('Tests, each with its own state.'),
})

export type TestFile = z.output<typeof testFileSchema>
export type TestCase = TestFile['tests'][number]
export type Expectation = TestCase['expect'][number]
