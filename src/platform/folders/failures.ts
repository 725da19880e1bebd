/** `denied`: this account may not write it; `full`: its disk has no room; `unfit`: all else. */
type Fault = 'denied' | 'full' | 'unfit'

/** A folder that can't be used. The message names it and says why, without a full stop. */
export class FolderUnusable extends Error {
  override readonly name = 'FolderUnusable'
  readonly fault: Fault

  constructor(message: string, { fault = 'unfit', ...options }: ErrorOptions & { fault?: Fault }) {
    super(message, options)
    this.fault = fault
  }
}

/** Another process has locked the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/** Error codes of the file system in words. */
const reasons: Readonly<Record<string, [reason: string, fault: Fault]>> = {
  EACCES: ['can not be written by this account', 'denied'],
  EPERM: ['can not be written by this account', 'denied'],
  EROFS: ['is on a read-only file system', 'unfit'],
  ENOSPC: ['is on a full disk', 'full'],
  EDQUOT: ['is on a disk where the quota of this account is used up', 'full'],
  ENOTDIR: ['is below a file', 'unfit'],
  ELOOP: ['is a link that leads to itself', 'unfit'],
}

/** Returns the failure in words when it is one of the file system at this path or below it. */
export function folderFailure(error: unknown, path: string): FolderUnusable | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const at = 'path' in error && typeof error.path === 'string' ? error.path : path
  if (at !== path && !at.startsWith(`${path}/`)) return undefined
  const other = `can not be used (${error.code} of ${error.syscall})`
  const [reason, fault] = reasons[String(error.code)] ?? [other, 'unfit']
  return new FolderUnusable(`${at} ${reason}`, { cause: error, fault })
}
