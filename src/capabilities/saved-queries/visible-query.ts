import { isUuid } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import type { Caller } from '../../platform/http/index.ts'
import { requesterOf } from '../jobs/index.ts'
import type { SavedQueryDeps } from './saved-query-deps.ts'
import { findSaved, type Seen, type StoredQuery } from './store.ts'

/** Whom saved queries are shown to. */
export function seenBy(caller: Caller): Seen {
  return { project_id: caller.project_id, owner: requesterOf(caller) }
}

/** A saved query that the caller may see. Throws `saved_query_not_found`, `store_unavailable`. */
export async function visibleQuery(
  { db }: SavedQueryDeps,
  caller: Caller,
  id: string,
): Promise<StoredQuery> {
  const stored = isUuid(id) ? await findSaved(db, { ...seenBy(caller), id }) : undefined
  if (stored !== undefined) return stored
  throw problem('saved_query_not_found', {
    detail: `saved_query_id: got "${id.slice(0, 80)}", which is no saved query that you can see`,
  })
}
