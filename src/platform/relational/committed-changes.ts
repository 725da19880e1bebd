import type { DatabaseConnection, QueryExecutor } from 'kysely'
import type { ChangeHint } from '../../model/change-hint.ts'

/** Receives the changes of a transaction after its commit. It must not throw. */
export type OnCommitted = (changes: readonly ChangeHint[]) => void

/** A connection whose transaction keeps the changes that are noted in it. */
export interface NotesChanges extends DatabaseConnection {
  noteChanges(changes: readonly ChangeHint[]): void
}

/**
 * Notes changes that statements have made, without a statement. In a transaction they are announced after
 * the commit, and forgotten after a rollback.
 */
export async function noteChanges(
  trx: { getExecutor(): QueryExecutor },
  changes: readonly ChangeHint[],
): Promise<void> {
  if (changes.length === 0) return
  await trx.getExecutor().provideConnection(async (connection) => {
    if (isNoting(connection)) connection.noteChanges(changes)
  })
}

function isNoting(connection: DatabaseConnection): connection is NotesChanges {
  return 'noteChanges' in connection
}
