import { type MappedText, TextBuilder } from '../../provenance/text/index.ts'

/**
 * Reads JSON as text in one pass without building a value, so that neither depth nor size matters:
 * `{"area_km2": 412, "name": "Miren"}` reads `area km2 412; name Miren`, one line per object.
 * The syntax is not checked, so invalid JSON is read too.
 */
export function readJson(source: string): MappedText {
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
