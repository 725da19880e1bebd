export { absentJournal, type Journal, type JournalEntry, type JournalOutcome } from './contract.ts'
export { openJournal } from './journal.ts'
export type { LeftMessage } from './recovery.ts'
