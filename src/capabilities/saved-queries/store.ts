import type { IdPage } from '../../model/id-pages.ts'
import {
  countUpTo,
  type Kysely,
  type SavedQueryTables,
  type Selectable,
} from '../../platform/relational/index.ts'
import { type DocumentFilter, NamedTable } from '../documents/index.ts'

/** A saved query as stored. */
export type StoredQuery = Selectable<SavedQueryTables['saved_queries']>

/** The table of saved queries. */
export const savedTable = new NamedTable<StoredQuery>('saved_queries', {
  json: ['body', 'parameters'],
  noun: 'saved query',
  not_found: 'saved_query_not_found',
})

/** Returns whether a viewer may see a query: one of the project, or the viewer's own. */
export function isVisible({ visibility, owner }: StoredQuery, viewer: string): boolean {
  return visibility === 'project' || owner === viewer
}

/** Returns a page of the queries that a viewer may see, newest first, and their number. */
export async function selectVisible(
  db: Kysely<SavedQueryTables>,
  { project_id, owner }: { project_id: string; owner: string },
  { filter: { kind }, after, limit, count_max }: IdPage & { filter: DocumentFilter },
): Promise<{ rows: StoredQuery[]; counted: number }> {
  const visible = db
    .selectFrom('saved_queries')
    .selectAll()
    .where('project_id', '=', project_id)
    .where((each) => each.or([each('visibility', '=', 'project'), each('owner', '=', owner)]))
    .$if(kind !== undefined, (rows) => rows.where('kind', '=', kind as StoredQuery['kind']))
  const rows = await visible
    .$if(after !== undefined, (page) => page.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return { rows, counted: await countUpTo(db, visible, count_max) }
}
