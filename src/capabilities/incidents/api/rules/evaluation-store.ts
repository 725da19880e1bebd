import { type IncidentTables, type Selectable, sql } from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { StoredRule } from './store.ts'

/** The evaluation of a rule, and its open incidents. */
export type RuleEvaluation = {
  evaluation: Selectable<IncidentTables['rule_evaluations']> | undefined
  /** Unresolved incidents to which the rule contributed. */
  open_incidents: number
  /** When the newest incident was opened. */
  last_opened_at: string | null
  /** Whether a group of the rule fires. */
  firing: boolean
}

/** Returns the evaluations of rules of a project, by rule id. */
export async function readEvaluations(
  db: IncidentDb,
  project_id: string,
  rules: readonly Pick<StoredRule, 'id' | 'name'>[],
): Promise<Map<string, RuleEvaluation>> {
  if (rules.length === 0) return new Map()
  const ids = rules.map(({ id }) => id)
  const [evaluations, firing, open, opened] = await Promise.all([
    db
      .selectFrom('rule_evaluations')
      .selectAll()
      .where('project_id', '=', project_id)
      .where('rule_id', 'in', ids)
      .execute(),
    db
      .selectFrom('rule_states')
      .select('rule_id')
      .distinct()
      .where('rule_id', 'in', ids)
      .where('firing', '=', true)
      .execute(),
    countOpen(db, project_id, rules),
    lastOpened(db, project_id, rules),
  ])
  const byId = new Map(evaluations.map((one) => [one.rule_id, one]))
  const firingIds = new Set(firing.map(({ rule_id }) => rule_id))
  return new Map(
    rules.map(({ id, name }) => [
      id,
      {
        evaluation: byId.get(id),
        open_incidents: open.get(name) ?? 0,
        last_opened_at: opened.get(name) ?? null,
        firing: firingIds.has(id),
      },
    ]),
  )
}

/** Counts the unresolved incidents of rules by the name of the rule. */
async function countOpen(
  db: IncidentDb,
  project_id: string,
  rules: readonly Pick<StoredRule, 'name'>[],
): Promise<Map<string, number>> {
  const names = rules.map(({ name }) => name)
  const { rows } = await sql<{ rule: string; n: number }>`
    select rule, count(*)::int as n
    from incidents, jsonb_array_elements_text(core->'rules') as rule
    where project_id = ${project_id} and state <> 'resolved'
      and core->'rules' ?| ${names}::text[] and rule = any(${names})
    group by rule`.execute(db)
  return new Map(rows.map(({ rule, n }) => [rule, n]))
}

/** Returns when the newest incident of each rule was opened, by the name of the rule. */
async function lastOpened(
  db: IncidentDb,
  project_id: string,
  rules: readonly Pick<StoredRule, 'name'>[],
): Promise<Map<string, string>> {
  const names = rules.map(({ name }) => name)
  const rows = await db
    .selectFrom('incidents')
    .select(['rule_name', ({ fn }) => fn.max('opened_at').as('opened_at')])
    .where('project_id', '=', project_id)
    .where('rule_name', 'in', names)
    .groupBy('rule_name')
    .execute()
  return new Map(rows.map(({ rule_name, opened_at }) => [rule_name, opened_at]))
}

/** Returns the names of the channels of a project. */
export async function channelNames(db: IncidentDb, project_id: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('notification_channels')
    .select('name')
    .where('project_id', '=', project_id)
    .execute()
  return new Set(rows.map(({ name }) => name))
}
