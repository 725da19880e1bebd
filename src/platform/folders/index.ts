import { access, constants, mkdir, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Creates a folder and its missing parents, one by one: Node's own `recursive` never ends where
 * mkdir fails with ENOENT, as below /proc and below a broken link. Throws FolderUnusable.
 */
export async function makeFolder(path: string, options: { mode?: number } = {}): Promise<void> {
  const missing: string[] = []
  let folder = resolve(path)
  while (!(await isFolder(folder))) {
    missing.unshift(folder)
    folder = dirname(folder)
  }
  for (const at of missing) {
    await mkdir(at, options).catch((error: NodeJS.ErrnoException) => {
      // Another process may have created it just now.
      if (error.code !== 'EEXIST') throw folderFailure(error, at) ?? error
    })
    if (!(await isFolder(at))) throw new FolderUnusable(`${at} is a link that leads nowhere`, {})
  }
}

/** Returns false when the path does not exist. Throws FolderUnusable for anything but a folder. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw folderFailure(error, path) ?? error
  }
  throw new FolderUnusable(`${path} is a file, not a folder`, {})
}

const mebibyte = 1_048_576

/** Throws FolderUnusable when the folder is not writable or its disk has too little free space. */
export async function assertUsable(
  path: string,
  { free_bytes_min }: { free_bytes_min: number },
): Promise<void> {
  const folder = resolve(path)
  const failed = (error: unknown) => {
    throw folderFailure(error, folder) ?? error
  }
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(failed)
  const { bavail, bsize, blocks } = await statfs(folder).catch(failed)
  // Some file systems of virtual machines do not report their size.
  if (blocks === 0 || bavail * bsize >= free_bytes_min) return
  const [free, wanted] = [bavail * bsize, free_bytes_min].map((n) => Math.floor(n / mebibyte))
  throw new FolderUnusable(
    `${folder} has ${free} MiB free on its disk, expected at least ${wanted} MiB`,
    { fault: 'full' },
  )
}

/** SQLite's error code for a file that another connection has locked. */
const busy = 5

/**
 * Locks the folder for this process, and returns the function that unlocks it. The lock is the
 * lock of an SQLite file: the kernel releases it when the process dies, so it is never stale.
 * Throws FolderInUse when another process holds it, FolderUnusable when the file can't be opened.
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
    const reason = `${path} cannot be written by this account (${message})`
    throw new FolderUnusable(reason, { cause, fault: 'denied' })
  }
  const held = file
  return () => held.close()
}

/** `denied`: no write permission; `full`: no disk space; `unfit`: any other fault. */
type Fault = 'denied' | 'full' | 'unfit'

/**
 * A folder that can't be used. The message names the folder and the reason, without a full stop.
 */
export class FolderUnusable extends Error {
  override readonly name = 'FolderUnusable'
  readonly fault: Fault

  constructor(message: string, { fault = 'unfit', ...options }: ErrorOptions & { fault?: Fault }) {
    super(message, options)
    this.fault = fault
  }
}

/** Another process holds the lock of the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/** Reason and fault of each error code of the file system. */
const reasons: Readonly<Record<string, [reason: string, fault: Fault]>> = {
  EACCES: ['cannot be written by this account', 'denied'],
  EPERM: ['cannot be written by this account', 'denied'],
  EROFS: ['is on a read-only file system', 'unfit'],
  ENOSPC: ['is on a full disk', 'full'],
  EDQUOT: ['is on a disk where the quota of this account is used up', 'full'],
  ENOTDIR: ['is below a file', 'unfit'],
  ELOOP: ['is a link that leads to itself', 'unfit'],
}

/** Translates an error of the file system at this path or below it; otherwise returns undefined. */
export function folderFailure(error: unknown, path: string): FolderUnusable | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const at = 'path' in error && typeof error.path === 'string' ? error.path : path
  if (at !== path && !at.startsWith(`${path}/`)) return undefined
  const other = `cannot be used (${error.code} of ${error.syscall})`
  const [reason, fault] = reasons[String(error.code)] ?? [other, 'unfit']
  return new FolderUnusable(`${at} ${reason}`, { cause: error, fault })
}
