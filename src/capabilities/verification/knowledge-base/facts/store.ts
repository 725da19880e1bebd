import { newId } from '../../../../kernel/ids.ts'
import {
  countUpTo,
  type Selectable,
  sql,
  type VerificationTables,
} from '../../../../platform/relational/index.ts'
import type { Fact } from '../../verdicts/judge-by-facts.ts'
import type { KnowledgeDb, KnowledgeLimits } from '../knowledge-base.ts'
import { addToStats } from '../stats.ts'

export type StoredFact = Selectable<VerificationTables['kb_facts']>

/** A fact to store. Project, subject, attribute and unit are its key. */
export type NewFact = Pick<StoredFact, 'subject' | 'attribute' | 'value' | 'unit' | 'source'>

/**
 * Adds facts, and replaces the value and source of those that exist. Returns them in the given
 * order. The facts must differ in their keys. Throws `knowledge_base_full`, `store_unavailable`.
 */
export function upsertFacts(
  db: KnowledgeDb,
  given: { project_id: string; facts: readonly NewFact[]; now: string; by: string },
  limits: KnowledgeLimits,
): Promise<{ facts: StoredFact[]; created: number }> {
  const { project_id, now, by } = given
  const rows = given.facts.map((fact) => ({ ...fact, id: newId() }))
  // Writers of the same facts lock the rows in one order, so that they cannot deadlock.
  const ordered = rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return db.transaction().execute(async (transaction) => {
    const { rows: stored } = await sql<StoredFact & { is_new: boolean }>`
      insert into kb_facts (
        id, project_id, subject, attribute, value, unit, source, created_at, updated_at, updated_by
      )
      select id, ${project_id}::uuid, subject, attribute, value, unit, source,
        ${now}::timestamptz, ${now}::timestamptz, ${by}
      from jsonb_to_recordset(${JSON.stringify(ordered)}::jsonb) as given(
        id uuid, subject text, attribute text, value text, unit text, source text
      )
      on conflict (project_id, subject, attribute, unit) do update
      set value = excluded.value, source = excluded.source,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by
      returning *, xmax = 0 as is_new
    `.execute(transaction)
    const created = stored.filter(({ is_new }) => is_new).length
    await addToStats(transaction, project_id, { facts: created }, limits)
    const byKey = new Map(stored.map(({ is_new: _, ...fact }) => [keyOf(fact), fact]))
    return { facts: given.facts.flatMap((fact) => byKey.get(keyOf(fact)) ?? []), created }
  })
}

/** Returns the key of a fact as one text. */
export function keyOf({
  subject,
  attribute,
  unit,
}: Pick<NewFact, 'subject' | 'attribute' | 'unit'>) {
  return JSON.stringify([subject, attribute, unit])
}

/** Filters of a list of facts; subject and attribute are compared in any case. */
export type FactFilter = {
  project_id: string
  subject: string | undefined
  attribute: string | undefined
}

/** Returns a page of facts, newest first. */
export function selectFacts(
  db: KnowledgeDb,
  { after, limit, ...filter }: FactFilter & { after: string | undefined; limit: number },
): Promise<StoredFact[]> {
  const rows = filtered(db, filter).selectAll().orderBy('id', 'desc').limit(limit)
  return (after === undefined ? rows : rows.where('id', '<', after)).execute()
}

/** Counts facts up to a limit. */
export async function countFacts(
  db: KnowledgeDb,
  { limit, ...filter }: FactFilter & { limit: number },
): Promise<number> {
  return countUpTo(db, filtered(db, filter).select('id'), limit)
}

function filtered(db: KnowledgeDb, { project_id, subject, attribute }: FactFilter) {
  let rows = db.selectFrom('kb_facts').where('project_id', '=', project_id)
  if (subject !== undefined) rows = rows.where(sql<boolean>`lower(subject) = lower(${subject})`)
  if (attribute === undefined) return rows
  return rows.where(sql<boolean>`lower(attribute) = lower(${attribute})`)
}

/** Deletes a fact. Returns false for an id that the project does not have. */
export function deleteFact(
  db: KnowledgeDb,
  { project_id, id }: { project_id: string; id: string },
  limits: KnowledgeLimits,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('kb_facts')
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return false
    await addToStats(transaction, project_id, { facts: -1 }, limits)
    return true
  })
}

/** Facts that a run reads; `kb_project_facts_max` is at most this. */
const maxFactsRead = 50_000

/** A fact as it is written, and as claims are compared with it. */
export type KnownFact = Pick<StoredFact, 'subject' | 'attribute' | 'value' | 'unit'> & {
  fact: Fact
}

/** Reads all facts of a project. */
export async function selectKnownFacts(db: KnowledgeDb, project_id: string): Promise<KnownFact[]> {
  const rows = await db
    .selectFrom('kb_facts')
    .where('project_id', '=', project_id)
    .select(['subject', 'attribute', 'value', 'unit', 'source'])
    .orderBy('id')
    .limit(maxFactsRead)
    .execute()
  return rows.map(({ source, ...fact }) => {
    const value = fact.value.trim() === '' ? Number.NaN : Number(fact.value)
    const known = Number.isFinite(value) ? value : fact.value
    return { ...fact, fact: { ...fact, value: known, source: source === '' ? 'facts' : source } }
  })
}
