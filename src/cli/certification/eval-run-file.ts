import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { UsageError } from '../command.ts'

/** An eval file to upload. */
export type EvalRunFile = { name: string; format: 'junit' | 'jsonl'; content: string }

const formats: ReadonlyMap<string, EvalRunFile['format']> = new Map([
  ['.xml', 'junit'],
  ['.jsonl', 'jsonl'],
  ['.ndjson', 'jsonl'],
])

/** Maximum size of an eval file, as the service accepts it. */
const bytes_max = 8 * 1_024 * 1_024

/** Reads an eval file. The ending of its name is its format. Throws `UsageError`. */
export async function readEvalRunFile(path: string): Promise<EvalRunFile> {
  const format = formats.get(extname(path).toLowerCase())
  if (format === undefined) {
    const expected = `expected a name that ends in ${[...formats.keys()].join(', ')}`
    throw new UsageError(`--eval-run: got "${path}", ${expected}`)
  }
  const bytes = await readFile(path).catch((error: Error) => {
    throw new UsageError(`--eval-run: ${error.message}`)
  })
  if (bytes.length > bytes_max) {
    throw new UsageError(`${path}: got ${bytes.length} bytes, expected at most ${bytes_max}`)
  }
  if (!isUtf8(bytes)) throw new UsageError(`${path}: expected UTF-8. Encode the file as UTF-8`)
  return { name: basename(path), format, content: bytes.toString() }
}
