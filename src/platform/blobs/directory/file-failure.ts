import { FolderUnusable } from '../../folders/index.ts'
import { BlobMissing, BlobsUnavailable } from '../contract.ts'

/** Translates what the file system says; `step` tells what was tried. */
export async function asReached<T>(step: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const reason = cause instanceof FolderUnusable ? cause.message : codeOf(cause)
    if (reason === undefined) throw cause
    throw new BlobsUnavailable(`the folder of blobs: ${step}: ${reason}`, { cause })
  }
}

/** The same; what is not there is undefined. */
export async function orUndefined<T>(step: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (cause) {
    if (isSystemError(cause) && missing.has(cause.code)) return undefined
    return asReached(step, Promise.reject(cause))
  }
}

/** The same; what is not there is a BlobMissing. */
export async function orMissing<T>(name: string, work: Promise<T>): Promise<T> {
  const found = await orUndefined(`open ${name}`, work)
  if (found !== undefined) return found
  throw new BlobMissing(`there is no blob ${name}`)
}

const missing: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

type SystemError = Error & { code: string }

function codeOf(error: unknown): string | undefined {
  return isSystemError(error) ? error.code : undefined
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
