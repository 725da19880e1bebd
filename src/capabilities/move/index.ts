export { countFiles, moveFiles } from './files.ts'
export { copyQueueFile, moveMessages } from './messages.ts'
export {
  isMoveUnfinished,
  type MoveProgress,
  type MoveSource,
  type MoveState,
  moveTables,
  openMoveProgress,
  recordMetadata,
} from './progress-store.ts'
export { MoveDiffers, moveRows } from './rows.ts'
export { openRowsStore, type RowsStore } from './rows-store.ts'
