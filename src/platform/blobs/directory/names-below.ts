import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { orUndefined } from './file-failure.ts'
import { unfinishedPrefix } from './write-whole.ts'

/** Names of the files below a folder that begin with the prefix, in the order of their bytes. */
export async function* namesBelow(root: string, prefix: string): AsyncGenerator<string> {
  for await (const name of walk(root, folderOf(prefix), prefix)) {
    if (!isUnfinished(name) && name.startsWith(prefix)) yield name
  }
}

/** Paths of the files that never became blobs, in the folders that the prefix leads to. */
export async function* unfinishedBelow(root: string, prefix: string): AsyncGenerator<string> {
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
  const entries = (await orUndefined(`list ${folder || '/'}`, listed)) ?? []
  // A folder sorts by its name with the slash, as in S3.
  const names = entries
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
  for (const name of names) {
    if (!name.endsWith('/')) yield name
    else if (name.startsWith(prefix)) yield* walk(root, name, prefix)
  }
}
