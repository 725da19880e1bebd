import type { Route } from '../../../platform/http/index.ts'
import type { ArchiveDeps } from './contract.ts'
import { restoreRunRoutes, runRestore } from './restore/restore.ts'
import { deleteSlice, listSlices } from './restore/slices.ts'
import { archiveRunRoutes, runArchive } from './run.ts'

export { archiveHandler } from './archive-job.ts'
export { type ArchiveStore, openArchiveStore } from './archive-store.ts'
export { endSlicesChore, tidyArchivesChore } from './chores.ts'
export type { ArchiveDeps } from './contract.ts'
export { type ArchiveSettings, defaultArchiveSettings } from './contract.ts'
export { readErasedUsers } from './restore/erased-rows.ts'
export { restoreHandler } from './restore/restore-job.ts'
export { openRestoredStore, type RestoredStore } from './restore/restored-store.ts'
export { readySlices } from './restore/store.ts'

/** The routes of archives and restored slices. */
export function archiveRoutes(deps: ArchiveDeps): Route[] {
  return [
    runArchive(deps),
    ...archiveRunRoutes(deps),
    runRestore(deps),
    ...restoreRunRoutes(deps),
    listSlices(deps),
    deleteSlice(deps),
  ]
}
