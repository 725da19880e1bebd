import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommandIo, UsageError } from '../command.ts'
import type { LintFile } from './lint-resources.ts'

/** More is no folder of policies. */
const files_max = 10_000
const file_bytes_max = 16 * 1024 * 1024

/** The files that the paths name, in the order of their names. Throws UsageError. */
export async function readLintFiles(
  paths: readonly string[],
  io: Pick<CommandIo, 'stdin'>,
): Promise<LintFile[]> {
  const files: LintFile[] = []
  for (const path of paths) {
    if (path === '-') {
      files.push({ name: '(stdin)', text: await io.stdin() })
      continue
    }
    for (const name of await namesAt(path)) files.push({ name, text: await textOf(name) })
    if (files.length > files_max) throw new UsageError(`${path}: more than ${files_max} files`)
  }
  return files
}

async function namesAt(path: string): Promise<string[]> {
  const about = await stat(path).catch((error: unknown) => notReadable(path, error))
  if (!about.isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

async function textOf(path: string): Promise<string> {
  const { size } = await stat(path)
  if (size > file_bytes_max) {
    throw new UsageError(`${path}: ${size} bytes, expected at most ${file_bytes_max}`)
  }
  return readFile(path, 'utf8').catch((error: unknown) => notReadable(path, error))
}

function notReadable(path: string, error: unknown): never {
  const { code } = error as { code?: string }
  throw new UsageError(`${path}: ${code === 'ENOENT' ? 'no such file' : (error as Error).message}`)
}
