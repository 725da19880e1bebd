import { ruleFields, ruleShape } from '../../../capabilities/incidents/rules/rule.ts'
import { canonicalRule } from '../../../capabilities/incidents/rules/written-rule.ts'
import type { ReconcileDeps, Reconciled, Resource } from '../../contract.ts'
import { declaredObject, removalOf } from '../../declared/declared-object.ts'
import { reconcileDeclared } from '../../declared/reconcile-declared.ts'
import { rules, type StoredRule } from './rule-api.ts'
import { type IncidentRuleSpec, toRule } from './spec.ts'
import { type IncidentRuleStatus, isEvaluated, ruleConditions, ruleStatus } from './status.ts'

type IncidentRule = Resource<IncidentRuleSpec, IncidentRuleStatus>

/** Intervals at which the evaluation is read: while something is missing, while firing, and otherwise. */
const evaluation_ms = { waiting: 10_000, firing: 30_000, inactive: 60_000 }

/** Makes the rule in the service match the spec, and reports its evaluation. */
export async function reconcileIncidentRule(
  resource: IncidentRule,
  deps: ReconcileDeps,
): Promise<Reconciled<IncidentRuleStatus>> {
  const { meta, spec, status } = resource
  const object = declaredObject(rules, meta, deps)
  const rule = ruleShape.parse(toRule({ name: meta.name, spec }))
  return reconcileDeclared(
    {
      ...{ noun: 'rule', action: 'PutRule', object, idOf: rules.idOf },
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
export const incidentRuleRemoval = removalOf((meta, deps) => declaredObject(rules, meta, deps), {
  withdrawn: 'deleted',
})
