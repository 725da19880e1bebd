import {
  canonicalRule,
  eventWarnings,
  ruleFields,
  ruleShape,
} from '../../../capabilities/incidents/rules/index.ts'
import { nameRule } from '../../common-spec.ts'
import {
  type Kind,
  projectIdColumn,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { declaredObject, removalOf } from '../../declared/declared-object.ts'
import { reconcileDeclared } from '../../declared/reconcile-declared.ts'
import { rules, type StoredRule } from './rule-api.ts'
import { type IncidentRuleSpec, incidentRuleSpec, toRule } from './spec.ts'
import {
  type IncidentRuleStatus,
  incidentRuleStatus,
  isEvaluated,
  ruleConditions,
  ruleStatus,
} from './status.ts'

type IncidentRule = Resource<IncidentRuleSpec, IncidentRuleStatus>

/** Intervals at which the evaluation is read: while something is missing, while firing, and otherwise. */
const evaluation_ms = { waiting: 10_000, firing: 30_000, inactive: 60_000 }

/** Makes the rule in the service match the spec, and reports its evaluation. */
async function reconcileIncidentRule(
  resource: IncidentRule,
  deps: ReconcileDeps,
): Promise<Reconciled<IncidentRuleStatus>> {
  const { meta, spec, status } = resource
  const object = declaredObject(rules, meta, deps)
  const rule = ruleShape.parse(toRule({ name: meta.name, spec }))
  return reconcileDeclared(
    {
      noun: 'rule',
      action: 'PutRule',
      object,
      idOf: rules.idOf,
      body: { ...rule, managed_by: object.owner },
      valuesOf: comparedFields,
      was_applied: status.appliedGeneration === meta.generation,
      report: (stored) => ({
        conditions: ruleConditions(stored, spec, deps.clock.now_ms()),
        status: ruleStatus(stored, resource, status),
        again_after_ms: nextReadMs(stored, spec),
        ...(!isEvaluated(stored, spec) && { is_unobserved: true }),
      }),
    },
    deps,
  )
}

/** Returns the fields that a resource declares. A service of an earlier version writes decimal texts. */
function comparedFields(stored: StoredRule) {
  const known = canonicalRule(stored) as Readonly<Record<string, unknown>>
  const fields = [...Object.keys(ruleFields), 'managed_by']
  return Object.fromEntries(fields.map((field) => [field, known[field]]))
}

function nextReadMs(stored: StoredRule, spec: IncidentRuleSpec): number {
  if (stored.missing_channels.length > 0) return evaluation_ms.waiting
  if (!isEvaluated(stored, spec)) return evaluation_ms.waiting
  return stored.evaluation.firing ? evaluation_ms.firing : evaluation_ms.inactive
}

/**
 * A withdrawn rule is deleted: a namespace without the grant must evaluate and send nothing about the
 * project. Incidents of a deleted rule remain open for people to resolve.
 */
const incidentRuleRemoval = removalOf((meta, deps) => declaredObject(rules, meta, deps), {
  withdrawn: 'deleted',
})

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
