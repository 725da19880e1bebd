import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { FolderUnusable, makeFolder } from '../folders/index.ts'
import {
  assertBlobName,
  assertBlobPrefix,
  type BlobContent,
  BlobMissing,
  type Blobs,
  BlobsUnavailable,
  contentHash,
  type PutOptions,
  type StoredBlob,
} from './contract.ts'

/**
 * Opens blobs as files below a folder, which the first write creates. A file appears by `rename`
 * after its bytes are synced, so that a power cut leaves either the old file or the new one.
 */
export function openDirectoryBlobs({ directory }: { directory: string }): Blobs {
  const root = resolve(directory)
  const pathOf = (name: string) => {
    assertBlobName(name)
    return join(root, name)
  }
  return {
    place: root,
    put: (name, content, options = {}) =>
      writeWhole({ root, name, path: pathOf(name), content, ...options }),
    get: async (name, options) => {
      options?.signal?.throwIfAborted()
      return throwIfMissing(name, openStream(pathOf(name), options?.signal))
    },
    stat: async (name, options) => {
      options?.signal?.throwIfAborted()
      const found = await undefinedIfMissing(`stat ${name}`, stat(pathOf(name)))
      return found?.isFile() ? { name, bytes: found.size } : undefined
    },
    list: async function* (prefix, options) {
      assertBlobPrefix(prefix)
      for await (const name of listNames(root, prefix)) {
        options?.signal?.throwIfAborted()
        const found = await undefinedIfMissing(`stat ${name}`, stat(join(root, name)))
        if (found?.isFile()) yield { name, bytes: found.size }
      }
    },
    delete: async (name, options) => {
      options?.signal?.throwIfAborted()
      await translateErrors(`delete ${name}`, rm(pathOf(name), { force: true }))
    },
    discardUnfinished: async (prefix, options) => {
      assertBlobPrefix(prefix)
      for await (const path of listUnfinished(root, prefix)) {
        options?.signal?.throwIfAborted()
        await translateErrors('delete an unfinished file', rm(path, { force: true }))
      }
    },
    close: () => undefined,
  }
}

async function openStream(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  const file = await open(path, 'r')
  return createReadStream('', { fd: file, ...(signal && { signal }) })
}

/** Prefix of files in progress, in the folder of the blob. No blob name can start with it. */
const unfinishedPrefix = '.unfinished-'

type BlobToWrite = PutOptions & { name: string; content: BlobContent }

/** Writes a temporary file in the same folder, syncs it and renames it. See `Blobs.put`. */
async function writeWhole(blob: BlobToWrite & { root: string; path: string }): Promise<StoredBlob> {
  const { root, name, path, signal } = blob
  signal?.throwIfAborted()
  const folder = dirname(path)
  const beside = join(folder, `${unfinishedPrefix}${randomUUID()}`)
  await translateErrors(`make the folder of ${name}`, makeFolder(folder, { mode: 0o700 }))
  try {
    const file = await translateErrors(`write ${name}`, open(beside, 'wx', 0o600))
    const stored = await writeContent(file, blob).finally(() => file.close())
    signal?.throwIfAborted()
    await translateErrors(`place ${name}`, rename(beside, path))
    await syncFolders(root, folder)
    return stored
  } catch (cause) {
    await rm(beside, { force: true }).catch(() => undefined)
    throw cause
  }
}

async function writeContent(file: FileHandle, blob: BlobToWrite): Promise<StoredBlob> {
  const hash = contentHash()
  for await (const chunk of blob.content) {
    blob.signal?.throwIfAborted()
    hash.add(chunk)
    await translateErrors(`write ${blob.name}`, writeAll(file, chunk))
  }
  const stored = hash.end(blob.name, blob.sha256)
  await translateErrors(`sync ${blob.name}`, file.sync())
  return stored
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

/** Syncs the folder of the file and its parents, which makes their names durable. */
async function syncFolders(root: string, folder: string): Promise<void> {
  const depth = relative(root, folder).split('/').filter(Boolean).length
  let each = folder
  for (let level = 0; level <= depth; level++) {
    const handle = await open(each, 'r')
    await translateErrors('sync a folder', handle.sync()).finally(() => handle.close())
    each = dirname(each)
  }
}

/** Yields names of files below a folder that start with the prefix, in byte order. */
async function* listNames(root: string, prefix: string): AsyncGenerator<string> {
  for await (const name of walk(root, folderOf(prefix), prefix)) {
    if (!isUnfinished(name) && name.startsWith(prefix)) yield name
  }
}

/** Yields paths of unfinished files in the folders below the prefix. */
async function* listUnfinished(root: string, prefix: string): AsyncGenerator<string> {
  for await (const name of walk(root, folderOf(prefix), prefix)) {
    if (isUnfinished(name)) yield join(root, name)
  }
}

function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1)
}

function isUnfinished(name: string): boolean {
  return basename(name).startsWith(unfinishedPrefix)
}

async function* walk(root: string, folder: string, prefix: string): AsyncGenerator<string> {
  const listed = readdir(join(root, folder), { withFileTypes: true })
  const entries = (await undefinedIfMissing(`list ${folder || '/'}`, listed)) ?? []
  // A folder sorts by its name with a slash at the end, as in S3.
  const names = entries
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
  for (const name of names) {
    if (!name.endsWith('/')) yield name
    else if (name.startsWith(prefix)) yield* walk(root, name, prefix)
  }
}

/** Translates errors of the file system to BlobsUnavailable. `step` names the operation. */
async function translateErrors<T>(step: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const reason = cause instanceof FolderUnusable ? cause.message : codeOf(cause)
    if (reason === undefined) throw cause
    throw new BlobsUnavailable(`the folder of blobs: ${step}: ${reason}`, { cause })
  }
}

/** Translates errors like `translateErrors`, but resolves to undefined for a missing file. */
async function undefinedIfMissing<T>(step: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (cause) {
    if (isSystemError(cause) && missing.has(cause.code)) return undefined
    return translateErrors(step, Promise.reject(cause))
  }
}

/** Translates errors like `translateErrors`, but throws BlobMissing for a missing file. */
async function throwIfMissing<T>(name: string, work: Promise<T>): Promise<T> {
  const found = await undefinedIfMissing(`open ${name}`, work)
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
