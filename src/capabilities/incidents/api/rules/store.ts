import { canonicalJson } from '../../../../kernel/canonical-json.ts'
import type { ManagedBy, ResourceName } from '../../../../model/managed-by.ts'
import {
  type IncidentTables,
  ownedBy,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { Rule, RuleKind } from '../../rules/rule.ts'
import { kindOf } from '../../store/incident-row.ts'

/** A stored rule. */
export type StoredRule = Omit<
  Selectable<IncidentTables['incident_rules']>,
  'spec' | 'managed_by' | 'suspended'
> & { spec: Rule; managed_by: ManagedBy | null }

/** Names a rule of a project. */
export type WhichRule = { project_id: string; rule_id: string }

/**
 * Does work that changes the rules of a project, in a transaction. Changes of one project wait for
 * each other, so that two of them can neither exceed a limit nor inhibit each other.
 */
export function changeRules<T>(
  db: IncidentDb,
  project_id: string,
  work: (trx: IncidentDb) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const lock = `looptrace.incident_rules ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    return work(trx)
  })
}

/** Finds a rule of a project. */
export async function findRule(
  db: IncidentDb,
  { project_id, rule_id }: WhichRule,
): Promise<StoredRule | undefined> {
  const row = await rulesOf(db, { project_id }).where('id', '=', rule_id).executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Finds a rule of a project and locks it against changes until the transaction ends. An evaluation may
 * still write states of the rule, so that none waits for the other in a circle.
 */
export async function lockRule(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
): Promise<StoredRule | undefined> {
  const rule = rulesOf(trx, { project_id }).where('id', '=', rule_id).forNoKeyUpdate()
  const row = await rule.executeTakeFirst()
  return row && fromRow(row)
}

/** Filters of a list of rules. */
export type RuleFilter = {
  project_id: string
  name?: string | undefined
  kind?: RuleKind | undefined
  managed_by?: ResourceName | undefined
  suspended?: boolean
}

/** Returns a page of rules, newest first, and counts the matches up to `count_max`. */
export async function selectRules(
  db: IncidentDb,
  filter: RuleFilter,
  { before, limit, count_max }: { before: string | undefined; limit: number; count_max: number },
): Promise<{ rows: StoredRule[]; counted: number }> {
  const rows = await rulesOf(db, filter)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const { n } = await db
    .selectFrom(rulesOf(db, filter).limit(count_max).as('found'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return { rows: rows.map(fromRow), counted: Number(n) }
}

function rulesOf(db: IncidentDb, { project_id, name, kind, managed_by, suspended }: RuleFilter) {
  return db
    .selectFrom('incident_rules')
    .selectAll()
    .where('project_id', '=', project_id)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? 'event'))
    .$if(suspended !== undefined, (query) => query.where('suspended', '=', suspended ?? false))
    .$if(managed_by !== undefined, (query) =>
      managed_by ? query.where(ownedBy(managed_by)) : query,
    )
}

/** Finds the rule that has a name, or that a resource declares. */
export async function findRuleBy(
  db: IncidentDb,
  filter: RuleFilter,
): Promise<StoredRule | undefined> {
  const row = await rulesOf(db, filter).executeTakeFirst()
  return row && fromRow(row)
}

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

/** A rule to write. */
export type NewRule = { spec: Rule; managed_by: ManagedBy | null; at: Date; by: string }

/** Inserts a rule; its name must be unused. */
export async function insertRule(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
  rule: NewRule,
): Promise<StoredRule> {
  const row = await trx
    .insertInto('incident_rules')
    .values({ id: rule_id, project_id, version: 1, created_at: rule.at, ...toColumns(rule) })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Replaces a rule; its name must be unused by others. */
export async function replaceRule(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
  rule: NewRule,
): Promise<StoredRule> {
  const row = await trx
    .updateTable('incident_rules')
    .set({ ...toColumns(rule), version: sql<number>`version + 1` })
    .where('project_id', '=', project_id)
    .where('id', '=', rule_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Removes the declaration of a rule by a resource. */
export async function releaseRule(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
): Promise<void> {
  await trx
    .updateTable('incident_rules')
    .set({ managed_by: null })
    .where('project_id', '=', project_id)
    .where('id', '=', rule_id)
    .execute()
}

/** Deletes a rule with its evaluation. */
export async function deleteRule(
  trx: IncidentDb,
  { project_id, rule_id }: WhichRule,
): Promise<void> {
  await trx
    .deleteFrom('incident_rules')
    .where('project_id', '=', project_id)
    .where('id', '=', rule_id)
    .execute()
}

/** Returns whether two rules, or two owners of them, are the same. */
export function isSame(one: object | null, other: object | null): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function toColumns({ spec, managed_by, at, by }: NewRule) {
  return {
    ...{ name: spec.name, kind: kindOf(spec), spec: JSON.stringify(spec) },
    ...{ suspended: spec.suspend, managed_by: managed_by && JSON.stringify(managed_by) },
    ...{ updated_at: at, updated_by: by },
  }
}

function fromRow({
  suspended: _,
  ...row
}: Selectable<IncidentTables['incident_rules']>): StoredRule {
  return row as StoredRule & typeof row
}
