import type { Clock } from '../../../kernel/time.ts'
import type {
  JobTables,
  Kysely,
  RetentionTables,
  TaskTables,
} from '../../../platform/relational/index.ts'
import type { RetentionStore } from '../stores/index.ts'

/** Where policies, holds, runs and roll-ups are. */
export type RetentionDb = Kysely<RetentionTables & JobTables & TaskTables>

/** What the routes of retention need; `retention` is the store that has everything. */
export type RetentionDeps = { db: RetentionDb; clock: Clock; retention: RetentionStore }
