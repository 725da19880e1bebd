import { type IncidentTables, type Selectable, sql } from '../../../platform/relational/index.ts'
import type { GroupState } from '../evaluation/contract.ts'
import type { IncidentDb } from '../ports.ts'
import type { Rule } from '../rules/rule.ts'
import { toInstant } from './incident-row.ts'
import { jsonOf, putRecords } from './records.ts'

/** A stored rule. */
export type StoredRule = { id: string; project_id: string; version: number; rule: Rule }

/** A stored state of a group. */
export type StoredState = Pick<
  Selectable<IncidentTables['rule_states']>,
  'rule_id' | 'group_key'
> & { state: GroupState }

/** Returns the rules of a project with these names that are evaluated. */
export async function findRulesByName(
  db: IncidentDb,
  project_id: string,
  names: readonly string[],
): Promise<Map<string, StoredRule>> {
  const rows = await db
    .selectFrom('incident_rules')
    .select(['id', 'project_id', 'version', 'spec', 'name'])
    .where('project_id', '=', project_id)
    .where('suspended', '=', false)
    .where(sql<boolean>`name = any(${[...names]})`)
    .execute()
  return new Map(rows.map(({ name, spec, ...row }) => [name, { ...row, rule: toRule(spec) }]))
}

/** Returns the states of groups of rules; all groups without `group_keys`. */
export async function findStates(
  db: IncidentDb,
  { rule_ids, group_keys }: { rule_ids: readonly string[]; group_keys?: readonly string[] },
): Promise<StoredState[]> {
  if (rule_ids.length === 0) return []
  const rows = await db
    .selectFrom('rule_states')
    .select(['rule_id', 'group_key', 'state'])
    .where(sql<boolean>`rule_id = any(${[...rule_ids]}::uuid[])`)
    .$if(group_keys !== undefined, (query) =>
      query.where(sql<boolean>`group_key = any(${[...(group_keys ?? [])]})`),
    )
    .execute()
  return rows.map(({ state, ...row }) => ({ ...row, state: state as unknown as GroupState }))
}

/** The next state of a group; null for one that is forgotten. */
export type NextState = Omit<StoredState, 'state'> & { state: GroupState | null }

/** Writes the states of groups, and deletes those of forgotten ones. */
export async function putStates(
  trx: IncidentDb,
  project_id: string,
  states: readonly NextState[],
): Promise<void> {
  const kept = states.flatMap(({ state, ...key }) => {
    if (state === null) return []
    const last_slot = state.slot_ms === null ? null : toInstant(state.slot_ms)
    return [{ ...key, project_id, state, firing: state.phase === 'firing', last_slot }]
  })
  await putRecords(trx, 'rule_states', kept, {
    key: ['rule_id', 'group_key'],
    update: ['state', 'firing', 'last_slot'],
  })
  const forgotten = states.filter(({ state }) => state === null)
  if (forgotten.length === 0) return
  await sql`
    delete from rule_states as known
    using jsonb_populate_recordset(null::rule_states, ${jsonOf(forgotten)}::jsonb) as given
    where known.rule_id = given.rule_id and known.group_key = given.group_key
  `.execute(trx)
}

/** Returns the rule of a stored spec, which has all defaults. */
export function toRule(spec: Record<string, unknown>): Rule {
  return spec as unknown as Rule
}
