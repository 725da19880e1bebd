import { z } from 'zod'
import {
  canonicalRule,
  ruleBody,
  type ruleShape,
} from '../../../capabilities/incidents/rules/index.ts'
import { commonSpecFields, labelField, projectRefField } from '../../common-spec.ts'
import { documentOf, named, refusedAs } from '../../declared/document.ts'
import {
  baseline,
  burnRate,
  condition,
  duration,
  escalationStep,
  event,
  groupBy,
  grouping,
  inhibition,
  selector,
  severity,
  textMap,
} from './sections.ts'

const kindFields = ['condition', 'burnRate', 'baseline', 'event']

/** The fields of an IncidentRule, before `ruleBody` compares them with each other. */
export const incidentRuleFields = z
  .strictObject({
    projectRef: projectRefField,
    ruleName: named(
      labelField
        .optional()
        .describe('Unique name of the rule in the project. Default: the name of the resource.'),
      'name',
    ),
    description: z.string().max(1_000).optional().describe('Purpose of the rule.'),
    condition: condition.optional().describe('Fires while a value is beyond a threshold.'),
    burnRate: burnRate
      .optional()
      .describe('Fires while an error budget is used up too fast in two windows.'),
    baseline: baseline
      .optional()
      .describe('Fires while a value is far above the same hour of the last four weeks.'),
    event: event.optional().describe('Fires when findings or other records match.'),
    selector: selector
      .default({})
      .describe('Rows that the rule reads: one of the globs of each dimension matches.'),
    groupBy: groupBy.default([]).describe('Dimensions; each group has its own incident.'),
    interval: duration('10s', '1h').default('1m').describe('Time between two evaluations, 10s–1h.'),
    delay: duration('0s', '1h')
      .default('1m')
      .describe('Time that late rows have to arrive, up to 1h.'),
    for: duration('0s', '1d')
      .default('0s')
      .describe('Time for which the condition must be true, up to 1d. Not for event rules.'),
    keepFiringFor: duration('0s', '7d')
      .optional()
      .describe(
        'Time since the last true slot for which the rule keeps firing, up to 7d. Default: 0s. Event rules without it fire until a person resolves.',
      ),
    noData: z
      .enum(['ok', 'alerting', 'keep'])
      .optional()
      .describe('Outcome of a slot without data: false, true, or neither. Default: ok.'),
    severity: severity.describe('Severity of the incidents.'),
    labels: textMap(256).describe('Labels of the incidents.'),
    annotations: textMap(4_000).describe('Texts for the people who read the incident.'),
    runbookUrl: z
      .string()
      .max(2_000)
      .regex(/^https?:\/\/[^\s]+$/)
      .optional()
      .describe('URL of the runbook.'),
    dedupKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Incidents with an equal key are one incident. Placeholders: `{{group.x}}`, `{{labels.x}}`, with names as in the API: `{{group.task_name}}`. Default: rule and group.',
      ),
    grouping: grouping.prefault({}).describe('Groups of messages.'),
    inhibitedBy: z
      .array(inhibition)
      .max(20)
      .default([])
      .describe('Rules whose unresolved incidents mute the messages of this rule.'),
    autoResolve: z.boolean().default(true).describe('Whether the end of firing resolves.'),
    reopenWithin: duration('0s', '7d')
      .default('15m')
      .describe('Time since a resolve within which the incident is reopened, up to 7d. 0s: never.'),
    ackTimeout: duration('1m', '7d')
      .optional()
      .describe('Time after which an acknowledged incident is open again, 1m–7d.'),
    escalation: z
      .array(escalationStep)
      .max(5)
      .default([])
      .describe('Channels that are notified while the incident remains open.'),
    assignTo: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('User to whom new incidents are assigned.'),
    notify: z.array(labelField).max(20).default([]).describe('Names of channels of the project.'),
    mode: z
      .enum(['live', 'shadow'])
      .default('live')
      .describe('`shadow` opens incidents without messages.'),
    suspendEvaluation: named(
      z.boolean().default(false).describe('Whether the evaluation in the service is suspended.'),
      'suspend',
    ),
    ...commonSpecFields,
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `[${kindFields.map((field) => `has(self.${field})`).join(', ')}].exists_one(x, x)`,
        message: 'expected exactly one of condition, burnRate, baseline and event',
      },
    ],
  })

const toFields = documentOf<z.input<typeof ruleShape>>()(incidentRuleFields)

/** The body of a rule, as the API accepts it. */
export type RuleRequest = { name: string } & Readonly<Record<string, unknown>>

/** Converts the spec of a resource of a name to the body of a rule of the API. */
export function toRule({ name, spec }: { name: string; spec: IncidentRuleSpec }): RuleRequest {
  return { name, ...(canonicalRule(toFields(spec)) as object) }
}

/** Name in checks of a spec that names no rule; the resource's name is not part of its spec. */
const unnamed = 'unnamed-rule'

/**
 * The spec of an IncidentRule. Refuses what the service refuses: values beyond their bounds, fields
 * that do not fit each other, and rules that can never fire.
 */
export const incidentRuleSpec = refusedAs(incidentRuleFields, {
  body: ruleBody,
  toBody: (spec) => toRule({ name: unnamed, spec }),
})

export type IncidentRuleSpec = z.output<typeof incidentRuleFields>
