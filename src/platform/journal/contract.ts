import type { LeftMessage } from './recovery.ts'

/** A message in the journal, from its first part until it is settled. */
export type JournalEntry = { readonly id: string; readonly subject: string }

/** Result of a write. The journal rests for some seconds after a failed or slow write. */
export type JournalOutcome = 'written' | 'full' | 'failed' | 'resting'

/**
 * Messages on their way to a queue, in files of this process. A process that was killed finds them
 * at its next start. Files are not synced: they outlive the process, but not the machine.
 */
export type Journal = {
  /** False for a journal that keeps nothing. */
  readonly isKept: boolean
  begin(id: string, subject: string): JournalEntry
  /** Adds a part of a message to the next write. The pieces must not change before it. */
  add(entry: JournalEntry, pieces: readonly Uint8Array[]): void
  /** Writes all added parts at once. Never throws. */
  write(): JournalOutcome
  /** Notes that a message is durable elsewhere, or given up. */
  settle(entry: JournalEntry): void
  stats(): JournalStats
  /** Messages of an earlier process. */
  readonly left: readonly LeftMessage[]
  /** Torn records that were cut. */
  readonly torn: number
  /** Deletes the messages of the earlier process. */
  forgetLeft(): Promise<void>
  /** Deletes the files in which nothing is left, and unlocks the folder. */
  close(): void
}

export type JournalStats = {
  /** Bytes on the disk, without a few unused files. */
  bytes: number
  /** False while the journal rests after a failed or slow write. */
  isWriting: boolean
}

/** A journal that keeps nothing. */
export const absentJournal: Journal = {
  isKept: false,
  begin: (id, subject) => ({ id, subject }),
  add: () => undefined,
  write: () => 'written',
  settle: () => undefined,
  stats: () => ({ bytes: 0, isWriting: false }),
  left: [],
  torn: 0,
  forgetLeft: async () => undefined,
  close: () => undefined,
}
