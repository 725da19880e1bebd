export { type ArchiveJobDeps, archiveHandler } from './archive-job.ts'
export { type ArchiveStore, openArchiveStore } from './archive-store.ts'
export { type ArchiveSettings, defaultArchiveSettings } from './settings.ts'
