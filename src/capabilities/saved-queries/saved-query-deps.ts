import type { Clock } from '../../kernel/time.ts'
import type { Kysely, SavedQueryTables } from '../../platform/relational/index.ts'
import type { RunDeps } from '../query/index.ts'

/** What the routes of saved queries need. */
export type SavedQueryDeps = {
  db: Kysely<SavedQueryTables>
  clock: Clock
  queries: RunDeps
  /** Saved queries of a project, at most. */
  saved_queries_max: number
}
