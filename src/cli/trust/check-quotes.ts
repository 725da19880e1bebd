import { hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { quote_chars_max } from '../../capabilities/verification/contract.ts'
import { storableText } from '../../platform/relational/storable.ts'
import { UsageError } from '../command.ts'
import type { Evidence, ExportedRun } from './exported-run.ts'

/** Texts by their SHA-256, in hexadecimal. */
export type Sources = ReadonlyMap<string, string>

const files_max = 10_000
const bytes_max = 64 * 1024 * 1024

/** Reads files and folders as UTF-8. Throws `UsageError` for a path that cannot be read. */
export async function readSources(paths: readonly string[]): Promise<Sources> {
  const sources = new Map<string, string>()
  for (const file of (await Promise.all(paths.map(listFiles))).flat()) {
    const bytes = await readText(file)
    sources.set(hash('sha256', bytes), bytes.toString())
  }
  return sources
}

async function listFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: Error) => {
    throw new UsageError(`--source: ${error.message}`)
  })
  if (!found.isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  if (files.length > files_max) {
    throw new UsageError(`--source: ${path} has ${files.length} files, expected ≤ ${files_max}`)
  }
  return files.map(({ parentPath, name }) => join(parentPath, name))
}

/** Reads a file of at most 64 MiB. */
export async function readText(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path)
    if (size > bytes_max) throw new Error(`${path} has ${size} bytes, expected ≤ ${bytes_max}`)
    return await readFile(path)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** A quote that is not in its source at its offsets. */
type WrongQuote = {
  claim_id: string
  source: string
  at: readonly [number, number]
  quote: string
  /** Text of the source at the offsets. */
  found: string
}

/** Quotes that were compared with their sources. */
export type QuoteCheck = {
  checked: number
  /** Quotes whose source is not among the given texts, and evidence that has no text. */
  without_source: number
  wrong: WrongQuote[]
}

/** Compares each quote of a run with its source, and each claim with the answer, by their offsets. */
export function checkQuotes({ run, claims }: ExportedRun, sources: Sources): QuoteCheck {
  const answer = { source: 'answer', digest: run.answer?.digest ?? null }
  const quotes = claims.flatMap(({ claim_id, text, at, values, results }) =>
    [
      { ...answer, quote: text, at, isWhole: true },
      ...[...values, ...results].flatMap((one) => one.evidence),
    ].map((evidence) => ({ claim_id, isWhole: false, ...evidence })),
  )
  const check: QuoteCheck = { checked: 0, without_source: 0, wrong: [] }
  for (const { claim_id, source, quote, at, digest, isWhole } of quotes) {
    const text = digest === null ? undefined : sources.get(digest)
    if (text === undefined || at === null) {
      check.without_source += 1
      continue
    }
    check.checked += 1
    const found = readQuote(text, at, isWhole ? at[1] - at[0] : quote_chars_max)
    if (found !== quote) check.wrong.push({ claim_id, source, at, quote, found })
  }
  return check
}

/** Returns the text at offsets as a run stores it. */
function readQuote(text: string, [start, end]: NonNullable<Evidence['at']>, chars_max: number) {
  return storableText(text.slice(start, end).slice(0, chars_max))
}
