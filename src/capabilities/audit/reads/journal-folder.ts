import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isUuid, newId } from '../../../kernel/ids.ts'
import { lockFolder, makeFolder } from '../../../platform/folders/index.ts'

/** A file of reads that wait for PostgreSQL. Its process has ended, or writes to another one. */
export type JournalSegment = { id: string; path: string; reads: number; bytes: number }

/** The folder of one process in the folder of all journals. */
export type JournalFolder = {
  /** Returns the path of a segment. */
  pathOf(segment_id: string): string
  /** Moves the segments of processes that were killed here, and returns them, the oldest first. */
  takeLeft(): JournalSegment[]
  /** Removes the folder if it has no segments, and unlocks it. */
  close(): void
}

const extension = '.ndjson'

/**
 * Makes the folder of this process. Its lock ends with the process, so another process takes the
 * segments of a killed one, and never those of a running one. Throws FolderUnusable.
 */
export async function openJournalFolder(root: string): Promise<JournalFolder> {
  await makeFolder(root, { mode: 0o700 })
  removeStarted(root)
  const name = newId()
  const starting = join(root, `.${name}`)
  await makeFolder(starting, { mode: 0o700 })
  const unlock = lockFolder(starting)
  // Other processes look at names without a dot only, so they never see it without its lock.
  const own = join(root, name)
  renameSync(starting, own)
  return {
    pathOf: (segment_id) => join(own, segment_id + extension),
    takeLeft: () =>
      readdirSync(root)
        .filter((other) => other !== name && !other.startsWith('.'))
        .flatMap((other) => takeFrom(join(root, other), own))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    close: () => {
      if (segmentsIn(own).length === 0) rmSync(own, { recursive: true, force: true })
      unlock()
    },
  }
}

/** Age from which a folder without its name is one of a killed process: the start takes moments. */
const started_ms_max = 60_000

/**
 * Removes the folders of processes that were killed between making and naming theirs. They have no
 * segments. The folder of a process that is starting has its lock, or is young.
 */
function removeStarted(root: string): void {
  for (const name of readdirSync(root)) {
    if (!name.startsWith('.') || !isUuid(name.slice(1))) continue
    const folder = join(root, name)
    try {
      if (Date.now() - statSync(folder).mtimeMs < started_ms_max) continue
      const unlock = lockFolder(folder)
      rmSync(folder, { recursive: true, force: true })
      unlock()
    } catch {
      // Another process holds it, or has removed or named it.
    }
  }
}

/** Moves the segments of a folder; none if its process runs, or if another one has moved them. */
function takeFrom(folder: string, own: string): JournalSegment[] {
  let unlock: () => void
  try {
    unlock = lockFolder(folder)
  } catch {
    return []
  }
  try {
    const taken = segmentsIn(folder).map((file) => {
      const path = join(own, file)
      renameSync(join(folder, file), path)
      return describe(file, path)
    })
    rmSync(folder, { recursive: true, force: true })
    return taken
  } finally {
    unlock()
  }
}

function segmentsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith(extension))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function describe(file: string, path: string): JournalSegment {
  const content = readFileSync(path)
  const reads = content.reduce((lines, byte) => (byte === 10 ? lines + 1 : lines), 0)
  return { id: file.slice(0, -extension.length), path, reads, bytes: content.length }
}
