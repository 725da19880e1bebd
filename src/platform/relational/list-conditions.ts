import { sql } from 'kysely'
import type { SortPosition } from '../../model/list-query.ts'

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
