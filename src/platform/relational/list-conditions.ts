import { type Expression, type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { SortPosition } from '../../model/list-query.ts'
import type { ResourceName } from '../../model/managed-by.ts'

/** A piece of SQL with a value of this type. */
export type Fragment<T> = ReturnType<typeof sql<T>>

/** Returns a condition for the rows after a position in a list sorted by (column, id). */
export function afterPosition(
  column: Fragment<unknown>,
  id: Fragment<unknown>,
  { order, after }: { order: 'asc' | 'desc'; after: SortPosition },
): Fragment<boolean> {
  const position = sql`(${after.value}, ${after.id})`
  return order === 'asc'
    ? sql<boolean>`(${column}, ${id}) > ${position}`
    : sql<boolean>`(${column}, ${id}) < ${position}`
}

/** Joins conditions with `and`, leaving out those that are undefined. */
export function allOf(conditions: readonly (Fragment<boolean> | undefined)[]): Fragment<boolean> {
  const given = conditions.filter((condition) => condition !== undefined)
  return sql<boolean>`${sql.join(given, sql` and `)}`
}

/** Matches rows whose `managed_by` (or another column) is this resource, by the rule of `isOwner`. */
export function ownedBy(
  resource: ResourceName,
  column: 'managed_by' | 'released_from' = 'managed_by',
): RawBuilder<boolean> {
  const { kind, namespace, name } = resource
  const [installation, uid] = [resource.installation ?? null, resource.uid ?? null]
  const owner = sql.ref(column)
  return sql<boolean>`(${owner} is not null and ${owner}->>'kind' = ${kind}
    and ${owner}->>'namespace' = ${namespace} and ${owner}->>'name' = ${name}
    and (${owner}->>'installation' is not distinct from ${installation}::text
      or (${owner}->>'installation' is null
        and (${uid}::text is null or ${owner}->>'uid' = ${uid}::text))))`
}

/** Counts the rows of a query, at most `count_max` of them: a list need not read all that match. */
export async function countUpTo(
  db: QueryExecutorProvider,
  matches: { limit(rows: number): Expression<unknown> },
  count_max: number,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from ${matches.limit(count_max)} as counted`.execute(db)
  return rows[0]?.n ?? 0
}
