import {
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { declaredRule, desiredRule, ruleDifferences, type StoredRule } from './rule-api.ts'
import type { IncidentRuleSpec } from './spec.ts'
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
  const api = declaredRule(meta, deps)
  const desired = desiredRule(resource)
  const before = await api.find()
  const changes = before === undefined ? ['rule'] : ruleDifferences(before, desired, api.owner)
  if (changes.length > 0) await api.write(desired, before)
  const after = changes.length > 0 ? await api.find() : before
  const left = after === undefined ? ['rule'] : ruleDifferences(after, desired, api.owner)
  if (after === undefined || left.length > 0) {
    const message = `the rule was written, but the read-back differs: ${left.join(', ')}`
    throw new NotReady('NotApplied', message, { again_after_ms: 10_000 })
  }
  await deps.noteExternalId(after.rule_id)
  const was_applied = status.appliedGeneration === meta.generation
  const drift = was_applied && before !== undefined ? changes : []
  return {
    conditions: ruleConditions(after, spec, deps.clock.now_ms()),
    status: ruleStatus(after, resource, status),
    events: eventsOf(before, changes, drift),
    drifted: drift.length,
    again_after_ms: nextRead_ms(after, spec),
    ...(!isEvaluated(after, spec) && { is_unobserved: true }),
  }
}

function nextRead_ms(stored: StoredRule, spec: IncidentRuleSpec): number {
  if (stored.missing_channels.length > 0) return evaluation_ms.waiting
  if (!isEvaluated(stored, spec)) return evaluation_ms.waiting
  return stored.evaluation.firing ? evaluation_ms.firing : evaluation_ms.inactive
}

function eventsOf(
  before: StoredRule | undefined,
  changes: readonly string[],
  drift: readonly string[],
): EventDraft[] {
  if (changes.length === 0) return []
  const action = 'PutRule'
  if (before === undefined) {
    return [{ type: 'Normal', reason: 'Created', action, note: 'Created the rule.' }]
  }
  const what = changes.join(', ')
  return drift.length > 0
    ? [
        {
          ...{ type: 'Warning', reason: 'DriftCorrected', action },
          note: `Corrected changes made in the service: ${what}`,
        },
      ]
    : [{ type: 'Normal', reason: 'Updated', action, note: `Wrote ${what}` }]
}

/** Deletes the rule; `Retain` removes only its owner. Its incidents remain. */
export async function removeIncidentRule(
  { meta, spec }: IncidentRule,
  deps: ReconcileDeps,
): Promise<void> {
  await declaredRule(meta, deps).remove({ retain: spec.deletionPolicy === 'Retain' })
}

/**
 * Deletes the rule after the grant was withdrawn: a namespace without the grant must evaluate and
 * send nothing about the project. Incidents of the rule remain open for people to resolve.
 */
export async function withdrawIncidentRule(
  { meta }: Pick<IncidentRule, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  await declaredRule(meta, deps).remove({ retain: false })
}
