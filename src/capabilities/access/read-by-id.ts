import type { IdPage } from '../../model/id-pages.ts'
import {
  countUpTo,
  type Kysely,
  type SelectQueryBuilder,
  sql,
} from '../../platform/relational/index.ts'

/** Reads a page of a query in the order of the column `id`, oldest first, and counts its rows. */
export async function readById<Tables, From extends keyof Tables, Row>(
  db: Kysely<Tables>,
  query: SelectQueryBuilder<Tables, From, Row>,
  id: string,
  { after, limit, count_max }: IdPage,
): Promise<{ rows: Row[]; counted: number }> {
  const counted = await countUpTo(db, query, count_max)
  const rest = after === undefined ? query : query.where(sql<boolean>`${sql.ref(id)} > ${after}`)
  const rows = await rest.orderBy(sql.ref(id)).limit(limit).execute()
  return { rows, counted }
}
