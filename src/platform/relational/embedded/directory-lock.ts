import { DatabaseSync } from 'node:sqlite'
import { EmbeddedPostgresRefused } from './postgres-binaries.ts'

/**
 * Makes this process the only one that looks after the folder, and answers how to let go. The
 * lock is SQLite's on a file of its own: the kernel drops it when the process dies, however it
 * dies, so there is no stale lock and no pid to compare. Throws EmbeddedPostgresRefused when
 * another process holds it.
 */
export function lockDirectory(directory: string): () => void {
  const file = new DatabaseSync(`${directory}/service.lock`)
  try {
    file.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    file.close()
    throw new EmbeddedPostgresRefused(`${directory}: another process runs a server on it`, {
      cause: error,
    })
  }
  return () => file.close()
}
