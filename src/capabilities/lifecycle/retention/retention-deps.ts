import type { Clock } from '../../../kernel/time.ts'
import type {
  JobTables,
  Kysely,
  RetentionTables,
  TaskTables,
} from '../../../platform/relational/index.ts'
import type { RetentionStore } from '../../storage/index.ts'

/** Where policies, holds, runs and roll-ups are. */
export type RetentionDb = Kysely<RetentionTables & JobTables & TaskTables>

/** What the routes of retention need. */
export type RetentionDeps = {
  db: RetentionDb
  clock: Clock
  /** The store that has everything. */
  retention: RetentionStore
  /** Hour of the day, UTC, at which the daily runs begin; the workers have to be told the same. */
  hour: number
  /** Whether a place for archives is set; workers have to be told the same. */
  archives_configured: boolean
}
