import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseAllDocuments,
  type Tags,
  visit,
} from 'yaml'
import { type CommandIo, UsageError } from '../command.ts'

/** A file to check, with the name that its findings carry. */
export type LintFile = { name: string; text: string }

/** A path of field names and list indexes. */
export type Path = readonly (string | number)[]
/** Line and column, counted from 1. */
export type Position = { line: number; column: number }

/** A document of a file, with the positions of its values. */
export type LintDocument = {
  file: string
  /** Undefined if the document is empty or invalid YAML. */
  value: unknown
  /** Returns the position of a path, or of its nearest existing parent. */
  positionOf(path: Path, part: 'key' | 'value'): Position
  faults: readonly { position: Position; message: string }[]
}

/**
 * Parses the documents of a text as kubectl does: YAML 1.1, in which `yes` is true, but dates are
 * text. JSON is a subset of YAML. Values of `textFields` remain text, also if they look like numbers.
 */
export function readDocuments(
  file: string,
  text: string,
  textFields: ReadonlySet<string> = new Set(),
): LintDocument[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments<ParsedNode>(text, {
    version: '1.1',
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: (tags) => tags.filter((tag) => !isTime(tag)).map(withDigits),
  })
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  return [...documents].map((document) => {
    keepTexts(document, textFields)
    return documentOf(file, document, at)
  })
}

/** Replaces numbers in fields of text by their source: `0x90` is 91 zeros in a series, not 144. */
function keepTexts(document: Document.Parsed, fields: ReadonlySet<string>): void {
  if (fields.size === 0) return
  visit(document, {
    Pair: (_key, { key, value }) => {
      if (!isScalar(key) || !fields.has(String(key.value)) || !isScalar(value)) return
      if (typeof value.value === 'number') value.value = value.source
    },
  })
}

/** Whether a tag would parse `1:30` or `2026-01-01` as a time; they stay text. */
function isTime(tag: Tags[number]): boolean {
  if (typeof tag === 'string') return false
  return tag.tag.endsWith(':timestamp') || ('format' in tag && tag.format === 'TIME')
}

/**
 * Makes a tag of floats skip texts without a digit before the exponent, such as `e0` and `.`, which
 * are text for kubectl and NaN for the library.
 */
function withDigits(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || !tag.tag.endsWith(':float') || !('test' in tag)) return tag
  if (!tag.test?.test('1.') && !tag.test?.test('1e1')) return tag
  return { ...tag, test: new RegExp(`^(?=[-+]?\\.?[0-9])${tag.test.source.slice(1)}`) }
}

function documentOf(
  file: string,
  document: Document.Parsed,
  at: (offset: number) => Position,
): LintDocument {
  const positionOf: LintDocument['positionOf'] = (path, part) =>
    at(offsetOf(document, path, part) ?? 0)
  const faults = document.errors.map(({ pos, message }) => ({ position: at(pos[0]), message }))
  if (faults.length > 0) return { file, value: undefined, positionOf, faults }
  try {
    return { file, value: document.toJS() ?? undefined, positionOf, faults }
  } catch (error) {
    const message = (error as Error).message
    return { file, value: undefined, positionOf, faults: [{ position: at(0), message }] }
  }
}

type NodeAt = { key: number | undefined; node: Node | null }

function offsetOf(document: Document, path: Path, part: 'key' | 'value'): number | undefined {
  let current: NodeAt = { key: undefined, node: document.contents }
  for (const step of path) {
    const next = stepInto(document, current.node, step)
    if (next === undefined) return startOf(current)
    current = next
  }
  return part === 'key' ? (current.key ?? startOf(current)) : startOf(current)
}

const startOf = ({ key, node }: NodeAt) => node?.range?.[0] ?? key

function stepInto(document: Document, from: Node | null, step: string | number) {
  const node = isAlias(from) ? from.resolve(document) : from
  if (isSeq(node))
    return { key: undefined, node: (node.items[Number(step)] ?? null) as Node | null }
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
  if (pair === undefined) return undefined
  return { key: (pair.key as Node).range?.[0], node: pair.value as Node | null }
}

/** Maximum files, to catch a wrong folder. */
const files_max = 10_000
const file_bytes_max = 16 * 1024 * 1024

/** Reads the files of the paths, sorted by name in each folder. Throws `UsageError`. */
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
  const stats = await stat(path).catch((error: unknown) => throwUnreadable(path, error))
  if (!stats.isDirectory()) return [path]
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
  return readFile(path, 'utf8').catch((error: unknown) => throwUnreadable(path, error))
}

function throwUnreadable(path: string, error: unknown): never {
  const { code } = error as { code?: string }
  throw new UsageError(`${path}: ${code === 'ENOENT' ? 'no such file' : (error as Error).message}`)
}
