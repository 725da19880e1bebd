import type { Masker } from './contract.ts'

/**
 * Masks a text. JSON (an object, an array or a string) stays JSON, and its other bytes are
 * unchanged: patterns are applied to each string (unescaped), key and number, but not to
 * punctuation; the value of a masked key is replaced as a whole. Strings that hold JSON, such as
 * the arguments of tool calls, are masked as JSON too; nesting is shallow, because each level
 * doubles the backslashes. JSON that was cut off is masked the same way, and then once more as
 * plain text.
 */
export function maskText(text: string, masker: Masker): string {
  if (text === '') return text
  if (!jsonBegins.test(text)) return masker.withoutMatches(text)
  const masked = new JsonMasking(text, masker).run()
  return isJson(text) ? masked : masker.withoutMatches(masked)
}

const jsonBegins = /^\s*[{["]/

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const quote = 0x22
const colon = 0x3a
const minus = 0x2d
const digit0 = 0x30
const digit9 = 0x39

/** One pass over a JSON text, which copies it with replacements. */
class JsonMasking {
  readonly #text: string
  readonly #masker: Masker
  #masked = ''
  /** End of the text that is already copied or replaced. */
  #copied = 0

  constructor(text: string, masker: Masker) {
    this.#text = text
    this.#masker = masker
  }

  run(): string {
    const text = this.#text
    for (let at = 0; at < text.length; ) {
      const code = text.charCodeAt(at)
      if (code === quote) at = this.#string(at)
      else if (code === minus || (code >= digit0 && code <= digit9)) at = this.#number(at)
      else at += 1
    }
    return this.#copied === 0 ? text : this.#masked + text.slice(this.#copied)
  }

  #string(start: number): number {
    const end = endOfString(this.#text, start)
    const value = decoded(this.#text.slice(start, end))
    const after = skipSpace(this.#text, end)
    if (this.#text.charCodeAt(after) !== colon) {
      this.#replace(start, end, { value, masked: this.#maskedString(value) })
      return end
    }
    this.#replace(start, end, { value, masked: this.#masker.withoutMatches(value) })
    const replacement = this.#masker.replacementOf(value)
    if (replacement === undefined) return after + 1
    const valueStart = skipSpace(this.#text, after + 1)
    const valueEnd = endOfValue(this.#text, valueStart)
    this.#replace(valueStart, valueEnd, { value: undefined, masked: replacement })
    return valueEnd
  }

  #maskedString(value: string): string {
    return nestedBegins.test(value)
      ? maskText(value, this.#masker)
      : this.#masker.withoutMatches(value)
  }

  #number(start: number): number {
    numberEnds.lastIndex = start
    const value = numberEnds.exec(this.#text)?.[0] ?? '-'
    const end = start + value.length
    this.#replace(start, end, { value, masked: this.#masker.withoutMatches(value) })
    return end
  }

  #replace(start: number, end: number, edit: { value: string | undefined; masked: string }): void {
    if (edit.value === edit.masked) return
    this.#masked += this.#text.slice(this.#copied, start) + JSON.stringify(edit.masked)
    this.#copied = end
  }
}

const nestedBegins = /^\s*[{[]/
const numberEnds = /-?[\d.eE+-]*/y

/**
 * Returns the end of the string that begins here, quote included; the end of a text that is cut.
 */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

const backslash = 0x5c

/** Returns the value of a quoted string; invalid escapes are kept literally. */
function decoded(string: string): string {
  if (!string.includes('\\')) return string.slice(1, isClosed(string) ? -1 : undefined)
  try {
    return String(JSON.parse(string))
  } catch {
    const inner = string.slice(1, isClosed(string) ? -1 : undefined)
    return inner.replace(escapes, (_, code: string | undefined, char: string) =>
      code === undefined ? (escaped[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
    )
  }
}

const escapes = /\\(?:u([0-9a-fA-F]{4})|(.))/gs
const escaped: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Whether a string has its closing quote; an escaped quote at the end of a cut one is harmless. */
function isClosed(string: string): boolean {
  return string.length > 1 && string.endsWith('"')
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) <= space) at += 1
  return at
}

const space = 0x20

/** Returns the end of the value that begins here; the end of the text for a value that is cut. */
function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    scalarEnds.lastIndex = start
    return start + (scalarEnds.exec(text)?.[0].length ?? 0)
  }
  let depth = 0
  for (let at = start; at < text.length; ) {
    const char = text[at]
    if (char === '"') {
      at = endOfString(text, at)
      continue
    }
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    at += 1
    if (depth === 0) return at
  }
  return text.length
}

const scalarEnds = /[^\s,}\]]*/y
