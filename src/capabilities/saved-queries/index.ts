import type { Route } from '../../platform/http/index.ts'
import { runSavedQuery } from './run.ts'
import { createSavedQuery, listSavedQueries } from './saved-queries.ts'
import { deleteSavedQuery, getSavedQuery, putSavedQuery } from './saved-query.ts'
import type { SavedQueryDeps } from './visible-query.ts'

export type { SavedQueryDeps } from './visible-query.ts'

/** The routes of saved queries. */
export function savedQueryRoutes(deps: SavedQueryDeps): Route[] {
  return [
    createSavedQuery(deps),
    listSavedQueries(deps),
    getSavedQuery(deps),
    putSavedQuery(deps),
    deleteSavedQuery(deps),
    runSavedQuery(deps),
  ]
}
