export {
  absentJournal,
  type Journal,
  type JournalEntry,
  type JournalOutcome,
  openJournal,
} from './journal.ts'
export type { LeftMessage } from './recovery.ts'
