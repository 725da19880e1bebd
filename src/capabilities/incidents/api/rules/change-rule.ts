import { isUuid } from '../../../../kernel/ids.ts'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import {
  type ManagedBy,
  type ResourceName,
  refuseUnlessOwner,
} from '../../../../model/managed-by.ts'
import {
  changedSince,
  type RequestHeaders,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { mutualInhibition } from '../../muting/inhibition.ts'
import type { IncidentDb } from '../../ports.ts'
import type { Rule } from '../../rules/rule.ts'
import { canonicalRule } from '../../rules/written-rule.ts'
import { orphanRule } from '../../store/moves.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import {
  changeRules,
  deleteRule,
  findRuleBy,
  insertRule,
  isSame,
  lockRule,
  type NewRule,
  releaseRule,
  replaceRule,
  ruleReferences,
  type StoredRule,
  type WhichRule,
} from './store.ts'

/**
 * Creates a rule, or returns the one that the same resource declares. Throws `name_taken`,
 * `limit_reached`, and `invalid_request` for rules that inhibit each other.
 */
export function createRule(
  { db, incident_rules_max }: Pick<IncidentRoutesDeps, 'db' | 'incident_rules_max'>,
  which: WhichRule,
  rule: NewRule,
): Promise<{ rule: StoredRule; is_new: boolean }> {
  const { project_id } = which
  const { managed_by } = rule
  return changeRules(db, project_id, async (trx) => {
    const declared = managed_by && (await findRuleBy(trx, { project_id, managed_by }))
    if (declared) return { rule: declared, is_new: false }
    await checkName(trx, which, rule)
    const others = await ruleReferences(trx, project_id)
    if (others.length >= incident_rules_max) throw limitReached(incident_rules_max)
    checkInhibition(rule.spec, others)
    return { rule: await insertRule(trx, which, rule), is_new: true }
  })
}

/** A rule to change, and the headers with the version that was read. */
type ChangedRule = WhichRule & { headers: RequestHeaders }

/**
 * Replaces a rule. An equal rule is not written, so that its incidents are not orphaned. Throws
 * `incident_rule_not_found`, `managed_by_kubernetes`, `precondition_failed`, `name_taken`, and
 * `invalid_request` for rules that inhibit each other.
 */
export function putRule(
  { db }: IncidentRoutesDeps,
  which: ChangedRule,
  rule: NewRule,
): Promise<StoredRule> {
  return changeRules(db, which.project_id, async (trx) => {
    const before = await findUnchanged(trx, which, rule.managed_by)
    const isEqual = isSame(canonicalRule(before.spec) as Rule, rule.spec)
    if (isEqual && isSame(before.managed_by, rule.managed_by)) return before
    await checkName(trx, which, rule)
    const references = await ruleReferences(trx, which.project_id)
    const others = references.filter(({ id }) => id !== which.rule_id)
    checkInhibition(rule.spec, others)
    if (!isEqual) await orphanIncidents(trx, before, rule.at)
    return replaceRule(trx, which, rule)
  })
}

/**
 * Deletes a rule, or with `retain` only its declaration. Throws `incident_rule_not_found`,
 * `managed_by_kubernetes`, `permission_denied`, `precondition_failed`.
 */
export function deleteStoredRule(
  { db, clock }: IncidentRoutesDeps,
  which: ChangedRule,
  { by, is_operator, retain }: { by: ResourceName | null; is_operator: boolean; retain: boolean },
): Promise<void> {
  return changeRules(db, which.project_id, async (trx) => {
    const before = await findUnchanged(trx, which, by)
    if (is_operator && before.managed_by === null) {
      const detail = 'No resource declares this rule, so an operator cannot delete it.'
      throw problem('permission_denied', { detail })
    }
    if (retain) return releaseRule(trx, which)
    await orphanIncidents(trx, before, new Date(clock.now_ms()))
    return deleteRule(trx, which)
  })
}

/** Returns the error for an id that no rule of the project has. */
export function ruleNotFound(rule_id: string): Problem {
  return problem('incident_rule_not_found', {
    detail: `rule_id: got "${rule_id.slice(0, 80)}", expected the id of a rule of this project`,
  })
}

/** Finds a rule that the caller may change, in the version of If-Match. */
async function findUnchanged(
  trx: IncidentDb,
  { headers, ...which }: ChangedRule,
  by: ResourceName | null,
): Promise<StoredRule> {
  const rule = isUuid(which.rule_id) ? await lockRule(trx, which) : undefined
  if (rule === undefined) throw ruleNotFound(which.rule_id)
  refuseUnlessOwner(rule.managed_by, by)
  const version = versionToReplace(headers)
  if (version !== undefined && version !== rule.version) throw changedSince(headers, rule.version)
  return rule
}

function orphanIncidents(
  trx: IncidentDb,
  { project_id, name: rule_name }: StoredRule,
  at: Date,
): Promise<void> {
  return orphanRule(trx, { project_id, rule_name, now_ms: at.getTime() })
}

/** Throws `name_taken` if another rule has the name. */
async function checkName(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
  { spec: { name }, managed_by }: NewRule,
): Promise<void> {
  const other = await findRuleBy(trx, { project_id, name })
  if (other === undefined || other.id === rule_id) return
  throw problem('name_taken', {
    detail: `name: got "${name}", the name of ${describeOwner(other.managed_by, managed_by)}`,
    faults: [{ pointer: '/name', detail: 'already in use' }],
  })
}

/** Describes the owner of a name. A namespace learns only the names of its own resources. */
function describeOwner(owner: ManagedBy | null, by: ManagedBy | null): string {
  if (owner === null || owner.namespace !== by?.namespace) return 'another rule of the project'
  return `the rule of ${owner.kind} ${owner.namespace}/${owner.name}`
}

function limitReached(rules_max: number): Problem {
  const detail = `The project has ${rules_max} incident rules, the maximum. Delete some first.`
  return problem('limit_reached', { detail })
}

/** Throws `invalid_request` if a rule would inhibit others that inhibit it. */
function checkInhibition(rule: Rule, others: Parameters<typeof mutualInhibition>[0]): void {
  const path = mutualInhibition([rule, ...others])
  if (path === undefined) return
  const detail = `the rules would mute each other for ever: ${path.join(' → ')}`
  throw problem('invalid_request', {
    detail: `/inhibited_by: ${detail}`,
    faults: [{ pointer: '/inhibited_by', detail }],
  })
}
