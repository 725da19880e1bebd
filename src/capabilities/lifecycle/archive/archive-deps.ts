import type { Clock } from '../../../kernel/time.ts'
import type { ArchiveTables, JobTables, Kysely } from '../../../platform/relational/index.ts'
import type { RestoredStore } from './restored-store.ts'

/** What the routes of archives and slices need. */
export type ArchiveDeps = {
  db: Kysely<ArchiveTables & JobTables>
  clock: Clock
  /** Takes out slices that are deleted. */
  restored: Pick<RestoredStore, 'dropSlice'>
  /** Whether a place for archives is set; workers have to be told the same. */
  is_configured: boolean
}
