import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { durationMs } from '../../../kernel/duration.ts'
import { duration_ms } from '../../common-spec.ts'
import type { ConditionDraft, ResourceMeta } from '../../contract.ts'
import type { StoredRule } from './rule-api.ts'
import type { IncidentRuleSpec } from './spec.ts'

const selector_characters_max = 4_096
const error_characters_max = 1_000
const warnings_max = 20

const count = z.int().min(0).max(1_000_000)

/** The status of an IncidentRule: the last evaluation that the operator read. */
export const incidentRuleStatus = z.strictObject({
  ruleId: z.uuid().max(36).optional().describe('Id of the rule in the service.'),
  appliedGeneration: z
    .int()
    .min(0)
    .max(2 ** 53 - 2)
    .optional()
    .describe('Generation of the spec that the service had at the last read-back.'),
  lastSlot: z.iso
    .datetime()
    .optional()
    .describe(
      'End of the newest evaluated slot when the status last changed. Without other changes it follows once per resyncPeriod.',
    ),
  openIncidents: count.optional().describe('Unresolved incidents of the rule.'),
  groups: count.optional().describe('Live groups.'),
  overflow: count.optional().describe('Groups above the limit, which are not evaluated.'),
  effectiveSelector: z
    .string()
    .max(selector_characters_max)
    .optional()
    .describe('Selector that the service evaluates, with everything that it adds.'),
  lastError: z
    .string()
    .max(error_characters_max)
    .optional()
    .describe('Error of the last evaluation, if it failed.'),
  warnings: z
    .array(z.string().max(error_characters_max))
    .max(warnings_max)
    .optional()
    .describe('Reasons why the rule may not do what its author expects.'),
})

export type IncidentRuleStatus = z.output<typeof incidentRuleStatus>

/** Returns the status of a rule. An otherwise equal status keeps `lastSlot` for a resyncPeriod. */
export function ruleStatus(
  stored: StoredRule,
  { meta, spec }: { meta: Pick<ResourceMeta, 'generation'>; spec: IncidentRuleSpec },
  before: Partial<IncidentRuleStatus>,
): IncidentRuleStatus {
  const { evaluation, warnings } = stored
  const { last_slot, last_error } = evaluation
  const shown = warnings.slice(0, warnings_max).map((text) => text.slice(0, error_characters_max))
  const status = {
    ruleId: stored.rule_id,
    appliedGeneration: meta.generation,
    openIncidents: evaluation.open_incidents,
    groups: evaluation.groups,
    overflow: evaluation.overflow,
    effectiveSelector: describeSelector(stored.effective_selector),
    ...(last_error !== null && { lastError: last_error.slice(0, error_characters_max) }),
    ...(shown.length > 0 && { warnings: shown }),
  }
  const { lastSlot } = before
  if (last_slot === null) return status
  const isRecent = (shown: string) =>
    Math.abs(Date.parse(last_slot) - Date.parse(shown)) < duration_ms(spec.resyncPeriod)
  const isKept = lastSlot !== undefined && isSame(status, before) && isRecent(lastSlot)
  return { ...status, lastSlot: isKept ? lastSlot : last_slot }
}

/** Whether two statuses are equal apart from `lastSlot`. */
function isSame(status: IncidentRuleStatus, before: Partial<IncidentRuleStatus>): boolean {
  const [one, other] = [new Map(Object.entries(status)), new Map(Object.entries(before))]
  return Object.keys(incidentRuleStatus.shape)
    .filter((field) => field !== 'lastSlot')
    .every((field) => isDeepStrictEqual(one.get(field), other.get(field)))
}

/** Formats a selector: `environment=production; model=gpt-*,claude-*`. */
function describeSelector(selector: StoredRule['effective_selector']): string {
  const parts = Object.entries(selector).map(([field, globs]) => `${field}=${globs.join(',')}`)
  const text = parts.length === 0 ? 'all rows' : parts.toSorted().join('; ')
  return text.slice(0, selector_characters_max)
}

/**
 * Whether the service follows this version of the rule. An event rule is in force once it is stored,
 * because it is evaluated whenever a record is stored; a suspended rule is not evaluated.
 */
export function isEvaluated(
  { version, evaluation }: StoredRule,
  { event, suspendEvaluation }: Pick<IncidentRuleSpec, 'event' | 'suspendEvaluation'>,
): boolean {
  return event !== undefined || suspendEvaluation || evaluation.rule_version >= version
}

/** Returns the conditions of a rule. */
export function ruleConditions(
  stored: StoredRule,
  spec: IncidentRuleSpec,
  now_ms: number,
): ConditionDraft[] {
  return [readyCondition(stored, spec), healthyCondition(stored, spec, now_ms), firing(stored)]
}

function readyCondition(stored: StoredRule, spec: IncidentRuleSpec): ConditionDraft {
  const type = 'Ready'
  const { missing_channels: missing } = stored
  if (missing.length > 0 && spec.mode === 'live') {
    const message = `No channel of the project has the name ${missing.join(', ')}: messages to it are lost. The service evaluates the rule.`
    return { type, status: 'False', reason: 'ChannelNotFound', message }
  }
  if (isEvaluated(stored, spec)) {
    const message = spec.suspendEvaluation
      ? 'The service has the rule as declared. Its evaluation is suspended.'
      : 'The service evaluates the rule as declared.'
    return { type, status: 'True', reason: 'Synced', message }
  }
  const message = 'The service has the rule and has not evaluated it yet.'
  return { type, status: 'Unknown', reason: 'NotEvaluated', message }
}

/** Lag of slots beyond the delay of a rule that is not a fault: a restart, or a backlog. */
const behind_ms = 300_000

function healthyCondition(
  stored: StoredRule,
  spec: IncidentRuleSpec,
  now_ms: number,
): ConditionDraft {
  const type = 'Healthy'
  const { healthy, last_error, last_slot } = stored.evaluation
  if (spec.suspendEvaluation) {
    const message = 'The evaluation is suspended: spec.suspendEvaluation is true.'
    return { type, status: 'Unknown', reason: 'Suspended', message }
  }
  if (!healthy) {
    const message = `The last evaluation failed: ${last_error ?? 'see the log of the workers'}`
    return { type, status: 'False', reason: 'EvaluationFailed', message }
  }
  if (spec.event !== undefined) {
    const message = 'The rule is evaluated when records are stored.'
    return { type, status: 'True', reason: 'Evaluated', message }
  }
  if (last_slot === null || !isEvaluated(stored, spec)) {
    const message = 'The service has not evaluated the rule yet.'
    return { type, status: 'Unknown', reason: 'NotEvaluated', message }
  }
  const slots_ms = durationMs(spec.delay) + 3 * durationMs(spec.interval)
  if (now_ms - Date.parse(last_slot) > slots_ms + behind_ms) {
    const message = `The newest evaluated slot ended at ${last_slot}. Check the workers, and whether accepted records wait in the queue.`
    return { type, status: 'False', reason: 'Behind', message }
  }
  return { type, status: 'True', reason: 'Evaluated', message: 'The last evaluation succeeded.' }
}

function firing({ evaluation: { firing: isFiring, open_incidents } }: StoredRule): ConditionDraft {
  const type = 'Firing'
  const open = `${open_incidents} unresolved incident${open_incidents === 1 ? '' : 's'}`
  return isFiring
    ? { type, status: 'True', reason: 'Firing', message: `The rule fires. It has ${open}.` }
    : {
        type,
        status: 'False',
        reason: 'Inactive',
        message: `The rule does not fire. It has ${open}.`,
      }
}
