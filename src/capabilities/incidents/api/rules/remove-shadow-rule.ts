import type { IncidentDb } from '../../ports.ts'
import { orphanRule } from '../../store/moves.ts'
import { ruleTable } from './store.ts'

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
