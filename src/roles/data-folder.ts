import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { RoleConfig } from '../platform/config/index.ts'
import {
  assertUsable,
  FolderInUse,
  FolderUnusable,
  folderFailure,
  lockFolder,
  makeFolder,
} from '../platform/folders/index.ts'
import type { RoleContext } from './running.ts'

/** The data folder can't be used. The message says why and what to do. */
class DataFolderRefused extends Error {
  override readonly name = 'DataFolderRefused'
}

const pidFile = 'service.pid'

/**
 * Makes the data folder where it is missing and takes it for this process until the role ends.
 * Throws DataFolderRefused when it can't be written, when its disk is nearly full, or when another
 * process has it.
 */
export async function takeDataFolder(
  { parts }: Pick<RoleContext, 'parts'>,
  config: Pick<RoleConfig<'all'>, 'data_directory' | 'data_free_bytes_min'>,
): Promise<void> {
  const folder = resolve(config.data_directory)
  await makeFolder(folder)
  await assertUsable(folder, { free_bytes_min: config.data_free_bytes_min })
  parts.defer(await locked(folder))
  await writeFile(join(folder, pidFile), `${process.pid}\n`)
  parts.defer(() => rm(join(folder, pidFile), { force: true }))
}

async function locked(folder: string): Promise<() => void> {
  try {
    return lockFolder(folder)
  } catch (cause) {
    if (!(cause instanceof FolderInUse)) throw cause
    const noted = (await readIfThere(join(folder, pidFile))) ?? ''
    const pid = /^\d+$/.test(noted.trim()) ? `process ${noted.trim()}` : 'another process'
    const advice = `Stop it first, or set LOOPTRACE_DATA_DIRECTORY to another folder.`
    throw new DataFolderRefused(`${folder} is in use by ${pid}. ${advice}`, { cause })
  }
}

/** Reads a file of the data folder; undefined when it is not there. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Adds what to do to a failure of the data folder; other errors are thrown as they are. */
export function explainFolder(data_directory: string): (error: unknown) => never {
  return (error) => {
    const failure =
      error instanceof FolderUnusable ? error : folderFailure(error, resolve(data_directory))
    if (failure === undefined) throw error
    throw new DataFolderRefused(`${failure.message}. ${adviceFor(failure)}.`, { cause: failure })
  }
}

function adviceFor({ fault }: FolderUnusable): string {
  const advice = 'Set LOOPTRACE_DATA_DIRECTORY to another folder'
  switch (fault) {
    case 'full':
      return 'Free some space, or set LOOPTRACE_DATA_DIRECTORY to a folder on another disk'
    case 'denied':
      return `${advice}, or let the user ${process.getuid?.()} write it`
    default:
      return advice
  }
}
