import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { makeFolder } from '../../folders/index.ts'
import { contentHash } from '../content-hash.ts'
import type { BlobContent, PutOptions, StoredBlob } from '../contract.ts'
import { asReached } from './file-failure.ts'

/** Files that are being written lie beside their end, under names that no blob can have. */
export const unfinishedPrefix = '.unfinished-'

/** Writes a file beside its end, syncs it, and puts it in its place. See `Blobs.put`. */
export async function writeWhole(
  about: { root: string; name: string; path: string; content: BlobContent } & PutOptions,
): Promise<StoredBlob> {
  const { root, name, path, signal } = about
  signal?.throwIfAborted()
  const folder = dirname(path)
  const beside = join(folder, `${unfinishedPrefix}${randomUUID()}`)
  await asReached(`make the folder of ${name}`, makeFolder(folder, { mode: 0o700 }))
  try {
    const file = await asReached(`write ${name}`, open(beside, 'wx', 0o600))
    const stored = await filled(file, about).finally(() => file.close())
    signal?.throwIfAborted()
    await asReached(`place ${name}`, rename(beside, path))
    await syncFolders(root, folder)
    return stored
  } catch (cause) {
    await rm(beside, { force: true }).catch(() => undefined)
    throw cause
  }
}

async function filled(
  file: FileHandle,
  about: { name: string; content: BlobContent } & PutOptions,
): Promise<StoredBlob> {
  const hash = contentHash()
  for await (const chunk of about.content) {
    about.signal?.throwIfAborted()
    hash.add(chunk)
    await asReached(`write ${about.name}`, writeAll(file, chunk))
  }
  const stored = hash.end(about.name, about.sha256)
  await asReached(`sync ${about.name}`, file.sync())
  return stored
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

/** The name of a file is safe when its folder is synced, and that folder's name likewise. */
async function syncFolders(root: string, folder: string): Promise<void> {
  const depth = relative(root, folder).split('/').filter(Boolean).length
  let each = folder
  for (let level = 0; level <= depth; level++) {
    const opened = await open(each, 'r')
    await asReached('sync a folder', opened.sync()).finally(() => opened.close())
    each = dirname(each)
  }
}
