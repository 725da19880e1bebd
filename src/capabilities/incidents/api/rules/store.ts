import type { ManagedBy } from '../../../../model/managed-by.ts'
import { type IncidentTables, type Selectable, sql } from '../../../../platform/relational/index.ts'
import { NamedTable } from '../../../documents/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { Rule } from '../../rules/rule.ts'

/** A stored rule. */
export type StoredRule = Omit<
  Selectable<IncidentTables['incident_rules']>,
  'spec' | 'managed_by'
> & { spec: Rule; managed_by: ManagedBy | null }

/** The table of rules. */
export const ruleTable = new NamedTable<StoredRule>('incident_rules', {
  json: ['spec', 'managed_by'],
  noun: 'rule',
  not_found: 'incident_rule_not_found',
})

/** The fields of a rule by which rules refer to each other. */
export type RuleReference = Pick<Rule, 'name' | 'labels' | 'group_by' | 'inhibited_by'> & {
  id: string
}

/** Returns the references of all rules of a project. */
export async function ruleReferences(db: IncidentDb, project_id: string): Promise<RuleReference[]> {
  return db
    .selectFrom('incident_rules')
    .select(['id', 'name'])
    .select([
      sql<Rule['labels']>`spec->'labels'`.as('labels'),
      sql<Rule['group_by']>`coalesce(spec->'group_by', '[]')`.as('group_by'),
      sql<Rule['inhibited_by']>`spec->'inhibited_by'`.as('inhibited_by'),
    ])
    .where('project_id', '=', project_id)
    .execute()
}
