import { DatabaseSync } from 'node:sqlite'
import { FolderInUse, FolderUnusable } from './failures.ts'

/** SQLite's code for a file that another connection has locked. */
const busy = 5

/**
 * Locks the folder for this process, and returns the function that unlocks it. The lock is SQLite's
 * on a file of its own: the kernel drops it when the process dies, however it dies, so no lock is
 * ever stale. Throws FolderInUse when another process holds it, FolderUnusable when the file can't
 * be opened.
 */
export function lockFolder(directory: string): () => void {
  const path = `${directory}/service.lock`
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path)
    file.exec('pragma journal_mode = memory; begin exclusive')
  } catch (cause) {
    file?.close()
    const { errcode, message } = cause as Error & { errcode?: number }
    if (errcode === busy) {
      throw new FolderInUse(`${directory} is in use by another process`, { cause })
    }
    const reason = `${path} can not be written by this account (${message})`
    throw new FolderUnusable(reason, { cause, fault: 'denied' })
  }
  const held = file
  return () => held.close()
}
