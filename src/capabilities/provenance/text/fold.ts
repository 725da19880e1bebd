import type { Range } from './mapped-text.ts'
import { isAscii } from './tokens.ts'

/** Text in a form that is compared, and the place of each of its code units in the original. */
export interface FoldedText {
  readonly text: string
  /** Range of the original that code unit `i` was folded from: `starts[i]` to `ends[i]`. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

const quoteForms: Record<string, string> = { '…': '...', '\u00ad': '', '\u200b': '', '\ufeff': '' }
for (const quote of '‘’‚‛′`´') quoteForms[quote] = "'"
for (const quote of '“”„‟″«»') quoteForms[quote] = '"'
for (const dash of '‐‑‒–—―−') quoteForms[dash] = '-'
// Marks of Markdown.
for (const mark of '*_') quoteForms[mark] = ''

/**
 * Folds quotation marks, dashes, white space, case, marks of Markdown and compatibility forms, and
 * keeps the offsets of the original. Invalid text stays as it is.
 */
export function foldText(text: string): FoldedText {
  return fold(text, foldCharacter)
}

/** Returns a text as `foldText` folds it, without offsets. */
export function foldedText(text: string): string {
  if (!isAscii(text)) return foldText(text).text
  const plain = text.replace(/[*_]/g, '').replaceAll('`', "'")
  return plain.toLowerCase().replace(/\s+/g, ' ').replace(/^ /, '')
}

/** Keeps the letters and digits of a text in lower case, with the offsets of the original. */
export function foldCompact(text: string): FoldedText {
  return fold(text, compactCharacter)
}

/** Returns the letters and digits of a text in lower case. */
export function compact(text: string): string {
  return /^[ -~]*$/.test(text)
    ? text.toLowerCase().replace(/[^a-z0-9]/g, '')
    : foldCompact(text).text
}

function fold(text: string, form: (char: string) => string): FoldedText {
  const ascii = asciiForms(form)
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let last = ' '
  let end = 0
  for (let at = 0; at < text.length; at = end) {
    const code = text.codePointAt(at) ?? 0
    end = at + (code > 0xffff ? 2 : 1)
    const folded = ascii[code] ?? form(text.slice(at, end))
    if (folded === '' || (folded === ' ' && last === ' ')) continue
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(at)
      ends.push(end)
    }
    parts.push(folded)
    last = folded.at(-1) ?? ''
  }
  return { text: parts.join(''), starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) }
}

/** Forms of the ASCII characters, by the function that folds them. */
const asciiTables = new Map<(char: string) => string, string[]>()

function asciiForms(form: (char: string) => string): readonly string[] {
  const known = asciiTables.get(form)
  if (known !== undefined) return known
  const table = Array.from({ length: 128 }, (_, code) => form(String.fromCharCode(code)))
  asciiTables.set(form, table)
  return table
}

function foldCharacter(char: string): string {
  if (char.trim() === '') return ' '
  return quoteForms[char] ?? char.normalize('NFKC').toLowerCase()
}

function compactCharacter(char: string): string {
  return /[\p{L}\p{N}]/u.test(char) ? char.toLowerCase() : ''
}

/**
 * Returns the range of the original that a range of a folded text, one unit or more, comes from.
 */
export function toOriginal({ starts, ends }: FoldedText, [start, end]: Range): Range {
  return [starts[start] ?? 0, ends[end - 1] ?? 0]
}
