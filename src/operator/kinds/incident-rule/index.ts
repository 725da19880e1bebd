import { eventWarnings } from '../../../capabilities/incidents/rules/event-warnings.ts'
import { nameRule } from '../../common-spec.ts'
import { type Kind, projectIdColumn } from '../../contract.ts'
import { incidentRuleRemoval, reconcileIncidentRule } from './rule.ts'
import { type IncidentRuleSpec, incidentRuleSpec } from './spec.ts'
import { type IncidentRuleStatus, incidentRuleStatus } from './status.ts'

const conditionPath = (type: string) => `.status.conditions[?(@.type=="${type}")].status`

/** The kind of a rule that opens incidents. */
export const incidentRuleKind: Kind<IncidentRuleSpec, IncidentRuleStatus> = {
  kind: 'IncidentRule',
  plural: 'incidentrules',
  singular: 'incidentrule',
  short_names: ['incrule'],
  description:
    'A rule that opens incidents of a project and notifies channels. The status has its evaluation: `kubectl wait --for=condition=Firing`.',
  spec: incidentRuleSpec,
  status: incidentRuleStatus,
  rules: [nameRule('ruleName')],
  columns: [
    {
      name: 'Severity',
      type: 'string',
      path: '.spec.severity',
      description: 'Severity of the incidents.',
    },
    {
      name: 'Healthy',
      type: 'string',
      path: conditionPath('Healthy'),
      description: 'Whether the last evaluation succeeded.',
    },
    {
      name: 'Firing',
      type: 'string',
      path: conditionPath('Firing'),
      description: 'Whether the rule fires.',
    },
    {
      name: 'Open',
      type: 'integer',
      path: '.status.openIncidents',
      description: 'Unresolved incidents of the rule.',
    },
    {
      name: 'Mode',
      type: 'string',
      path: '.spec.mode',
      description: 'live, or shadow without messages.',
      priority: 1,
    },
    {
      name: 'Groups',
      type: 'integer',
      path: '.status.groups',
      description: 'Live groups.',
      priority: 1,
    },
    {
      name: 'Last Slot',
      type: 'date',
      path: '.status.lastSlot',
      description: 'End of the newest evaluated slot when the status last changed.',
      priority: 1,
    },
    projectIdColumn,
  ],
  reasons: {
    NotEvaluated:
      'Unknown: the service has the rule and has not evaluated it yet. `observedGeneration` follows after one evaluation.',
    NameTaken: 'The project has another rule of this name. Set ruleName.',
    LimitReached: 'The project has the maximum number of rules. Delete one.',
    ChannelNotFound:
      'The rule is evaluated, but `notify` or `escalation` name a channel that the project does not have. The operator looks again.',
  },
  temporary_reasons: ['ChannelNotFound'],
  project: { withdraw: incidentRuleRemoval.withdraw },
  warnings: ({ event }) => eventWarnings(event),
  example: {
    metadata: { name: 'slow-first-token', namespace: 'looptrace' },
    spec: {
      projectRef: { name: 'default' },
      condition: { signal: 'ttft_p95', window: '10m', threshold: '4000', minSamples: 30 },
      groupBy: ['model'],
      severity: 'high',
      notify: ['on-call'],
    },
  },
  reconcile: reconcileIncidentRule,
  remove: incidentRuleRemoval.remove,
}
