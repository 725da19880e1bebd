import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Why a test of a full disk was skipped, and what to do. */
export const noTinyDisk = 'no tmpfs; run as root, in a container with the capability SYS_ADMIN'

/** Mounts a file system of a few KiB; undefined where the process may not. */
export async function mountTinyDisk(
  kib: number,
): Promise<(AsyncDisposable & { folder: string }) | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'looptrace-tiny-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${kib}k,mode=0700`, 'tmpfs', folder])
  } catch {
    await rm(folder, { recursive: true })
    return undefined
  }
  return {
    folder,
    [Symbol.asyncDispose]: async () => {
      await run('umount', ['--lazy', folder])
      await rm(folder, { recursive: true })
    },
  }
}
