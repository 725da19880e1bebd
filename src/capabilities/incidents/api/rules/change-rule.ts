import { canonicalJson } from '../../../../kernel/canonical-json.ts'
import { problem } from '../../../../kernel/problem.ts'
import { type ChangeOf, type DocumentRules, DocumentWriter } from '../../../documents/index.ts'
import { mutualInhibition } from '../../muting/inhibition.ts'
import type { IncidentDb } from '../../ports.ts'
import type { Rule } from '../../rules/rule.ts'
import { canonicalRule } from '../../rules/written-rule.ts'
import { kindOf } from '../../store/incident-row.ts'
import { orphanRule } from '../../store/moves.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { ruleReferences, ruleTable, type StoredRule } from './store.ts'

type RuleLimits = Pick<IncidentRoutesDeps, 'incident_rules_max'>

/** Returns how rules are changed. */
export function rulesOfChange({
  incident_rules_max: documents_max = 1_000,
}: RuleLimits): DocumentRules<StoredRule, Rule, IncidentDb> {
  return {
    table: ruleTable,
    title: 'incident rules',
    documents_max,
    is_owned: true,
    toColumns,
    beforeDelete: orphanIncidents,
  }
}

/** Creates a rule of the service itself. Throws `name_taken` and `limit_reached`. */
export async function createRule(
  deps: RuleLimits & { db: IncidentDb },
  rule: { project_id: string; id: string; spec: Rule; at: string; by: string },
): Promise<void> {
  await new DocumentWriter(deps.db, rulesOfChange(deps)).create({ ...rule, managed_by: null })
}

/**
 * An equal rule is not written, so that its incidents are not orphaned. Throws `invalid_request` for
 * rules that inhibit each other.
 */
async function toColumns(
  trx: IncidentDb,
  { project_id, id, spec, managed_by, before, at }: ChangeOf<StoredRule, Rule>,
) {
  const isEqual = before !== undefined && isSame(canonicalRule(before.spec), spec)
  if (isEqual && isSame(before.managed_by, managed_by)) return undefined
  const references = await ruleReferences(trx, project_id)
  checkInhibition([spec, ...references.filter((other) => other.id !== id)])
  if (before !== undefined && !isEqual) await orphanIncidents(trx, before, at)
  const { name, suspend: suspended } = spec
  return { columns: { name, kind: kindOf(spec), spec, suspended }, unique: { name } }
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function orphanIncidents(
  trx: IncidentDb,
  { project_id, name: rule_name }: StoredRule,
  at: string,
): Promise<void> {
  return orphanRule(trx, { project_id, rule_name, now_ms: Date.parse(at) })
}

/** Throws `invalid_request` if the first of the rules would inhibit others that inhibit it. */
function checkInhibition(rules: Parameters<typeof mutualInhibition>[0]): void {
  const path = mutualInhibition(rules)
  if (path === undefined) return
  const detail = `the rules would mute each other for ever: ${path.join(' → ')}`
  throw problem('invalid_request', {
    detail: `/inhibited_by: ${detail}`,
    faults: [{ pointer: '/inhibited_by', detail }],
  })
}

/**
 * Deletes a rule in mode shadow together with the incidents that only it opened, which no message
 * announced. Does nothing to a live rule, or to one that does not exist. For rules that the service
 * itself creates.
 */
export function removeShadowRule(
  db: IncidentDb,
  { project_id, rule_id, now }: { project_id: string; rule_id: string; now: Date },
): Promise<void> {
  return ruleTable.change(db, project_id, async (trx) => {
    const rule = await ruleTable.lock(trx, { project_id, id: rule_id })
    if (rule === undefined || rule.spec.mode !== 'shadow') return
    await orphanRule(trx, { project_id, rule_name: rule.name, now_ms: now.getTime() })
    await trx
      .deleteFrom('incidents')
      .where('project_id', '=', project_id)
      .where('rule_name', '=', rule.name)
      .where('shadow', '=', true)
      .execute()
    await ruleTable.delete(trx, { project_id, id: rule_id })
  })
}
