import { isUuid } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Caller } from '../../platform/http/index.ts'
import type { Kysely, SavedQueryTables } from '../../platform/relational/index.ts'
import { requesterOf } from '../jobs/index.ts'
import type { RunDeps } from '../query/index.ts'
import { findSaved, type StoredQuery, type Viewer } from './store.ts'

/** The dependencies of the routes of saved queries. */
export type SavedQueryDeps = {
  db: Kysely<SavedQueryTables>
  clock: Clock
  queries: RunDeps
  /** Maximum saved queries of a project. */
  saved_queries_max: number
}

/** Returns the caller as a viewer of saved queries. */
export function toViewer(caller: Caller): Viewer {
  return { project_id: caller.project_id, owner: requesterOf(caller) }
}

/**
 * Finds a saved query that the caller may see. Throws `saved_query_not_found`, `store_unavailable`.
 */
export async function findVisibleQuery(
  { db }: SavedQueryDeps,
  caller: Caller,
  id: string,
): Promise<StoredQuery> {
  const stored = isUuid(id) ? await findSaved(db, { ...toViewer(caller), id }) : undefined
  if (stored !== undefined) return stored
  throw problem('saved_query_not_found', {
    detail: `saved_query_id: got "${id.slice(0, 80)}", expected the id of a saved query visible to you`,
  })
}
