import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { assertBlobName, assertBlobPrefix } from '../blob-name.ts'
import type { Blobs } from '../contract.ts'
import { asReached, orMissing, orUndefined } from './file-failure.ts'
import { namesBelow, unfinishedBelow } from './names-below.ts'
import { writeWhole } from './write-whole.ts'

/**
 * Blobs as files below a folder, which is made when it is first written to. A file appears by
 * `rename` after its bytes are synced, so that a power cut leaves the old one or the new one.
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
      return orMissing(name, opened(pathOf(name), options?.signal))
    },
    stat: async (name, options) => {
      options?.signal?.throwIfAborted()
      const found = await orUndefined(`stat ${name}`, stat(pathOf(name)))
      return found?.isFile() ? { name, bytes: found.size } : undefined
    },
    list: async function* (prefix, options) {
      assertBlobPrefix(prefix)
      for await (const name of namesBelow(root, prefix)) {
        options?.signal?.throwIfAborted()
        const found = await orUndefined(`stat ${name}`, stat(join(root, name)))
        if (found?.isFile()) yield { name, bytes: found.size }
      }
    },
    delete: async (name, options) => {
      options?.signal?.throwIfAborted()
      await asReached(`delete ${name}`, rm(pathOf(name), { force: true }))
    },
    discardUnfinished: async (prefix, options) => {
      assertBlobPrefix(prefix)
      for await (const path of unfinishedBelow(root, prefix)) {
        options?.signal?.throwIfAborted()
        await asReached('delete an unfinished file', rm(path, { force: true }))
      }
    },
    close: () => undefined,
  }
}

async function opened(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  const file = await open(path, 'r')
  return createReadStream('', { fd: file, ...(signal && { signal }) })
}
