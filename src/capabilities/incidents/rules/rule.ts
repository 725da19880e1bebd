import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { labelPattern } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { severities } from '../../../model/severity.ts'
import {
  baselineSchema,
  burnRateSchema,
  conditionSchema,
  duration,
  eventSchema,
} from './condition-kinds.ts'

/** Dimensions of `selector` and `group_by`. Ids of users, tasks and traces are unbounded. */
export const dimensions = [
  'model',
  'provider',
  'environment',
  'task_name',
  'release',
  'tag',
] as const
export type Dimension = (typeof dimensions)[number]

/** Maximum live groups of a rule; the others are counted as `overflow`. */
export const groups_max = 500

const name = z
  .string()
  .min(1)
  .max(63)
  .regex(labelPattern, { error: expected('a Kubernetes name (DNS label)') })
  .meta({ id: 'DnsLabel' })

const text = z.string().min(1).max(256)

const dimension = z.enum(dimensions).meta({ id: 'IncidentDimension' })

/** A value of a dimension; `*` matches any characters, `?` one character. */
const glob = text.describe('`*` matches any characters, `?` one character.')

const globs = z.array(glob).min(1).max(50)

/** Rows that the rule reads: one of the globs of each dimension matches. */
const selector = record('IncidentSelector', {
  model: globs.optional(),
  provider: globs.optional(),
  environment: globs.optional(),
  task_name: globs.optional(),
  release: globs.optional(),
  tag: globs.optional(),
})

/** Name of a label. */
export const labelName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/)

const labels = z.record(labelName, text).default({})

const grouping = record('IncidentGrouping', {
  wait: duration('0s', '1h').default('30s').describe('Wait before the first message.'),
  interval: duration('0s', '1d').default('5m').describe('Least time between two messages.'),
  repeat: duration('5m', '7d').default('4h').describe('Time between reminders.'),
})

/** Rules whose unresolved incidents mute this rule's messages. */
const inhibition = record('IncidentInhibition', {
  rule: name.optional().describe('Name of a rule.'),
  labels: z.record(labelName, text).optional().describe('Labels that a rule must have.'),
  equal: z
    .array(dimension)
    .min(1)
    .max(3)
    .describe('Dimensions of `group_by` with equal values in both incidents.'),
})
export type Inhibition = z.output<typeof inhibition>

const escalationStep = record('EscalationStep', {
  after: duration('1m', '7d').describe('Time since the opening or reopening.'),
  notify: z.array(name).min(1).max(20).describe('Names of channels.'),
})

/** Fields that all kinds of rules have. */
export const ruleFields = {
  name: name.describe('Unique name in the project.'),
  description: z.string().max(1000).optional(),
  condition: conditionSchema.optional(),
  burn_rate: burnRateSchema.optional(),
  baseline: baselineSchema.optional(),
  event: eventSchema.optional(),
  selector: selector.default({}),
  group_by: z.array(dimension).max(3).default([]),
  interval: duration('10s', '1h').default('1m').describe('Time between two evaluations.'),
  delay: duration('0s', '1h').default('1m').describe('Time that late rows have to arrive.'),
  for: duration('0s', '1d').default('0s').describe('Time for which the condition must be true.'),
  keep_firing_for: duration('0s', '7d')
    .optional()
    .describe(
      'Time since the last true slot for which the rule keeps firing. Default: 0s. Event rules without it fire until a person resolves.',
    ),
  no_data: z
    .enum(['ok', 'alerting', 'keep'])
    .meta({ id: 'NoDataOutcome' })
    .optional()
    .describe('Outcome of a slot without data: false, true, or neither. Default: `ok`.'),
  severity: z.enum(severities),
  labels,
  annotations: z.record(labelName, z.string().max(4000)).default({}),
  runbook_url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional(),
  dedup_key: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Incidents with an equal key are one incident. Placeholders: `{{group.x}}`, `{{labels.x}}`. Default: rule and group.',
    ),
  grouping: grouping.prefault({}),
  inhibited_by: z.array(inhibition).max(20).default([]),
  auto_resolve: z.boolean().default(true).describe('Whether the end of firing resolves.'),
  reopen_within: duration('0s', '7d')
    .default('15m')
    .describe('Time since a resolve within which the incident is reopened. 0s: never.'),
  ack_timeout: duration('1m', '7d')
    .optional()
    .describe('Time after which an acknowledged incident is open again.'),
  escalation: z.array(escalationStep).max(5).default([]),
  assign_to: text.optional().describe('User to whom new incidents are assigned.'),
  notify: z.array(name).max(20).default([]).describe('Names of channels.'),
  mode: z
    .enum(['live', 'shadow'])
    .meta({ id: 'IncidentRuleMode' })
    .default('live')
    .describe('`shadow` sends no messages.'),
  suspend: z.boolean().default(false).describe('Whether the evaluation is suspended.'),
}

/** The body of an incident rule, with exactly one of the four kinds, before `ruleFaults`. */
export const ruleShape = record('IncidentRuleFields', ruleFields)

/** A rule with defaults. Durations are text; `durationMs` parses them. */
export type Rule = z.output<typeof ruleShape>

/** Names of the four kinds: the field of the rule that is set. */
export const ruleKinds = ['condition', 'burn_rate', 'baseline', 'event'] as const
export type RuleKind = (typeof ruleKinds)[number]

export const ruleKindSchema = z
  .enum(ruleKinds, { error: expected(ruleKinds.join(', ')) })
  .meta({ id: 'IncidentRuleKind' })
