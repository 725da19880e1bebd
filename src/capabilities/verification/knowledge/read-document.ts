import { copyDecoded, type MappedText, TextBuilder } from '../../provenance/text/index.ts'
import { readHtml } from './read-html.ts'

export const documentFormats = ['text', 'markdown', 'html', 'json'] as const
export type DocumentFormat = (typeof documentFormats)[number]

/** Reads a document as plain text that knows its offsets in the source. */
export function readDocument(format: DocumentFormat, source: string): MappedText {
  return readers[format](source)
}

const readers: Record<DocumentFormat, (source: string) => MappedText> = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml,
  json: readJson,
}

function readText(source: string): MappedText {
  const builder = new TextBuilder(source)
  builder.copy(0, source.length)
  return builder.finish()
}

/**
 * Reads Markdown as plain text: markers are left out, code and table cells are kept. Entities are
 * decoded, but not in code.
 */
function readMarkdown(source: string): MappedText {
  const builder = new TextBuilder(source)
  let start = 0
  let isFenced = false
  while (start < source.length) {
    const found = source.indexOf('\n', start)
    const end = found === -1 ? source.length : found
    if (fence.test(source.slice(start, end))) isFenced = !isFenced
    readLine(builder, { source, start, end, isFenced })
    start = end + 1
  }
  return builder.finish()
}

const lineMarker = /^[ \t]{0,40}(?:#{1,6}[ \t]|>[ \t]?|[-*+][ \t]|\|)?[ \t]{0,40}/
const fence = /^[ \t]*(?:```|~~~)/
const unreadLine = /^[ \t]*(?:```|~~~)|^[-=*_ |:\t]{3,}$/
/** Emphasis, code marks, and the frame of a link or image: `[text](address)`. */
const inlineMarker = /\*{1,3}|__|`{1,8}|!?\[|\]\([^()\s]{0,500}\)|\]|\\(?=[\\`*_{}[\]()#+.!|-])/g

type Line = { source: string; start: number; end: number; isFenced: boolean }

function readLine(builder: TextBuilder, { source, start, end, isFenced }: Line): void {
  const line = source.slice(start, end)
  builder.line(start)
  if (unreadLine.test(line)) return
  let at = lineMarker.exec(line)?.[0].length ?? 0
  const text = line.trimEnd()
  const length = text.endsWith('|') ? text.slice(0, -1).trimEnd().length : text.length
  let isCode = isFenced
  const copy = (to: number) => {
    if (isCode) builder.copy(start + at, start + to)
    else if (to > at) copyDecoded(builder, source, [start + at, start + to])
  }
  for (const match of text.matchAll(inlineMarker)) {
    if (match.index < at) continue
    copy(Math.min(match.index, length))
    if (match[0].startsWith('`')) isCode = isFenced || !isCode
    at = match.index + match[0].length
  }
  copy(length)
}

/**
 * Reads JSON as text in one pass without building a value, so that neither depth nor size matters:
 * `{"area_km2": 412, "name": "Miren"}` reads `area km2 412; name Miren`, one line per object.
 * The syntax is not checked, so invalid JSON is read too.
 */
function readJson(source: string): MappedText {
  const builder = new TextBuilder(source)
  let at = 0
  let before = ''
  while (at < source.length) {
    const char = source[at] ?? ''
    if (char === '"') {
      const end = endOfString(source, at)
      readString(builder, source, at + 1, end)
      at = end + 1
      before = 's'
    } else if (/[-\w.+]/.test(char)) {
      const end = endOfScalar(source, at)
      builder.copy(at, end)
      at = end
      before = 's'
    } else {
      readPunctuation(builder, char, before, at)
      if (char.trim() !== '') before = char
      at++
    }
  }
  return builder.finish()
}

function readPunctuation(builder: TextBuilder, char: string, before: string, at: number): void {
  if (char === ':') builder.space(at)
  else if (char === '}') builder.line(at)
  else if (char === '{' && (before === '[' || before === ',')) builder.line(at)
  else if (char === ',' && builder.last !== '\n') builder.write('; ', at)
  else if (char === ']' && before === 's') builder.write('; ', at)
}

function endOfString(source: string, open: number): number {
  for (let at = open + 1; at < source.length; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '"') return at
  }
  return source.length
}

function endOfScalar(source: string, start: number): number {
  const scalar = /[-\w.+]+/y
  scalar.lastIndex = start
  scalar.exec(source)
  return scalar.lastIndex
}

const escapes: Record<string, string> = { n: '\n', r: '\n', t: ' ', b: '', f: ' ' }

/** Copies a string with its escapes decoded; the underscores of a key become spaces. */
function readString(builder: TextBuilder, source: string, start: number, end: number): void {
  const isKey = /^"\s{0,100}:/.test(source.slice(end, end + 102))
  const parts = isKey ? /_|\\(?:u[0-9a-f]{4}|.)/gi : /\\(?:u[0-9a-f]{4}|.)/gi
  let at = start
  for (const match of source.slice(start, end).matchAll(parts)) {
    const from = start + match.index
    builder.copy(at, from)
    builder.write(decodeEscape(match[0]), from, match[0].length)
    at = from + match[0].length
  }
  builder.copy(at, end)
}

function decodeEscape(written: string): string {
  if (written === '_') return ' '
  const kind = written[1] ?? ''
  if (written.length === 6) return String.fromCharCode(Number.parseInt(written.slice(2), 16))
  return escapes[kind] ?? kind
}
