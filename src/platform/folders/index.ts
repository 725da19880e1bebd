export { FolderInUse, FolderUnusable, folderFailure } from './failures.ts'
export { lockFolder } from './lock-folder.ts'
export { assertUsable, makeFolder } from './make-folder.ts'
