import type { Blobs } from '../../platform/blobs/index.ts'

/** The number of files and their bytes. */
export type FilesSum = { files: number; bytes: number }

/** Counts the files of a store. */
export async function countFiles(blobs: Pick<Blobs, 'list'>): Promise<FilesSum> {
  const sum = { files: 0, bytes: 0 }
  for await (const { bytes } of blobs.list('')) {
    sum.files += 1
    sum.bytes += bytes
  }
  return sum
}

/**
 * Copies the files that the target does not have. Files never change and are stored whole, so a file
 * of the same name and size is the same file. Returns all files of the source.
 */
export async function moveFiles(
  { source, target }: { source: Blobs; target: Blobs },
  signal: AbortSignal,
): Promise<FilesSum> {
  const sum = { files: 0, bytes: 0 }
  for await (const { name, bytes } of source.list('')) {
    signal.throwIfAborted()
    const stored = await target.stat(name)
    if (stored?.bytes !== bytes) await target.put(name, await source.get(name))
    sum.files += 1
    sum.bytes += bytes
  }
  return sum
}
