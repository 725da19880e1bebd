export {
  assertUsable,
  FolderInUse,
  FolderUnusable,
  folderFailure,
  lockFolder,
  makeFolder,
} from './folder.ts'
