import type { Clock } from '../../../kernel/time.ts'
import type {
  JobTables,
  Kysely,
  RetentionTables,
  TaskTables,
} from '../../../platform/relational/index.ts'
import type { RetentionStore } from '../../storage/index.ts'

/** The database of policies, holds, runs and roll-ups. */
export type RetentionDb = Kysely<RetentionTables & JobTables & TaskTables>

/** Dependencies of the routes of retention. */
export type RetentionDeps = {
  db: RetentionDb
  clock: Clock
  /** The store of all rows. */
  retention: RetentionStore
  /** Hour of the day, UTC, of the daily runs. Workers need the same configuration. */
  hour: number
  /** Whether a blob store for archives is configured. Workers need the same configuration. */
  archives_configured: boolean
}

/** Kind of the jobs that delete due rows. */
export const retentionKind = 'retention'

/**
 * Kind of the jobs that count the rows a run would delete. It differs from that of runs, so that
 * workers of earlier versions can't run one as a deletion.
 */
export const dryRunKind = 'retention_dry_run'
