import type { Clock } from '../../../kernel/time.ts'
import type { ArchiveTables, JobTables, Kysely } from '../../../platform/relational/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { RestoredStore } from './restored-store.ts'
import { endSlice, slicesToEnd } from './slice-store.ts'

/** How often workers look for slices that are over. */
const every_ms = 60_000
/** Slices of one look; others wait for the next. */
const slices_max = 50

/** Takes out slices that have expired, were deleted, or whose restore run failed. */
export function endSlicesChore(deps: {
  db: Kysely<ArchiveTables & JobTables>
  restored: Pick<RestoredStore, 'dropSlice'>
  clock: Clock
  every_ms?: number
}): Chore {
  const { db, restored, clock } = deps
  return {
    name: 'end slices',
    every_ms: deps.every_ms ?? every_ms,
    run: async (signal) => {
      const now = new Date(clock.now_ms())
      for (const slice of await slicesToEnd(db, { now, limit: slices_max })) {
        signal.throwIfAborted()
        const { id: slice_id, project_id } = slice
        await restored.dropSlice(slice_id)
        await endSlice(db, { slice_id, project_id }, now)
      }
    },
  }
}
