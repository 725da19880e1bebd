import type { Route } from '../../../platform/http/index.ts'
import type { ArchiveDeps } from './archive-deps.ts'
import { runArchive } from './archive-run.ts'
import { getArchiveRun, listArchiveRuns } from './archive-runs.ts'
import { runRestore } from './restore-run.ts'
import { getRestoreRun, listRestoreRuns } from './restore-runs.ts'
import { deleteSlice, listSlices } from './restored-slices.ts'

/** The routes of archives and of what is restored from them. */
export function archiveRoutes(deps: ArchiveDeps): Route[] {
  return [
    runArchive(deps),
    listArchiveRuns(deps),
    getArchiveRun(deps),
    runRestore(deps),
    listRestoreRuns(deps),
    getRestoreRun(deps),
    listSlices(deps),
    deleteSlice(deps),
  ]
}
