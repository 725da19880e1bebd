import { access, constants, mkdir, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { FolderUnusable, folderFailure } from './failures.ts'

/**
 * Makes a folder, and the missing ones above it, one by one: Node's own `recursive` never ends where
 * a new folder is refused with ENOENT, as below /proc and below a link that leads nowhere. Throws
 * FolderUnusable.
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
      // Another process may have made it just now.
      if (error.code !== 'EEXIST') throw folderFailure(error, at) ?? error
    })
    if (!(await isFolder(at))) throw new FolderUnusable(`${at} is a link that leads nowhere`, {})
  }
}

/** False when nothing is there. Throws FolderUnusable when something else is. */
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

/** Throws FolderUnusable when nothing can be made in the folder or its disk has too little room. */
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
  // Some file systems of virtual machines do not say how large they are.
  if (blocks === 0 || bavail * bsize >= free_bytes_min) return
  const [free, wanted] = [bavail * bsize, free_bytes_min].map((n) => Math.floor(n / mebibyte))
  throw new FolderUnusable(
    `${folder} has ${free} MiB free on its disk, expected at least ${wanted} MiB`,
    { fault: 'full' },
  )
}
