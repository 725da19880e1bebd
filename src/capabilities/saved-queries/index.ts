import type { Route } from '../../platform/http/index.ts'
import { runSavedQuery } from './run.ts'
import { type SavedQueryDeps, savedQueryDocuments } from './saved-queries.ts'

export type { SavedQueryDeps } from './saved-queries.ts'

/** The routes of saved queries. */
export function savedQueryRoutes(deps: SavedQueryDeps): Route[] {
  return [...savedQueryDocuments(deps), runSavedQuery(deps)]
}
