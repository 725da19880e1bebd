import type { SortPosition } from '../../model/list-query.ts'
import { sql } from '../../platform/relational/index.ts'

/** A piece of SQL that stands for a value of this type. */
export type Fragment<T> = ReturnType<typeof sql<T>>

/** A condition for rows that come after a position in a list sorted by (column, id). */
export function afterPosition(
  column: Fragment<unknown>,
  id: Fragment<unknown>,
  { order, after }: { order: 'asc' | 'desc'; after: SortPosition },
): Fragment<boolean> {
  const place = sql`(${after.value}, ${after.id})`
  return order === 'asc'
    ? sql<boolean>`(${column}, ${id}) > ${place}`
    : sql<boolean>`(${column}, ${id}) < ${place}`
}

/** Joins conditions with `and`; those that are undefined don't narrow anything. */
export function allOf(conditions: readonly (Fragment<boolean> | undefined)[]): Fragment<boolean> {
  const given = conditions.filter((condition) => condition !== undefined)
  return sql<boolean>`${sql.join(given, sql` and `)}`
}
