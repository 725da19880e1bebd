import type { Range } from '../knowledge/mapped-text.ts'

/** Characters of a quote, normalised; a shorter one occurs by chance. */
export const quoteLength_min = 12

/** Text in the form that quotes are compared in, and the place of each of its code units. */
export interface FoldedText {
  readonly text: string
  /** Range of the original that code unit `i` was folded from: `starts[i]` to `ends[i]`. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

const folded: Record<string, string> = { '…': '...', '\u00ad': '', '\u200b': '', '\ufeff': '' }
for (const quote of '‘’‚‛′`´') folded[quote] = "'"
for (const quote of '“”„‟″«»') folded[quote] = '"'
for (const dash of '‐‑‒–—―−') folded[dash] = '-'

/**
 * Folds quotation marks, dashes, white space, case and compatibility forms, and keeps the offsets
 * of the original. Invalid text stays as it is.
 */
export function foldText(text: string): FoldedText {
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let last = ' '
  let at = 0
  for (const char of text) {
    const form = foldCharacter(char)
    const end = at + char.length
    const isSecondSpace = form === ' ' && last === ' '
    for (let unit = 0; unit < form.length && !isSecondSpace; unit++) {
      starts.push(at)
      ends.push(end)
    }
    if (!isSecondSpace && form !== '') {
      parts.push(form)
      last = form.at(-1) ?? last
    }
    at = end
  }
  return { text: parts.join(''), starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) }
}

function foldCharacter(char: string): string {
  const code = char.charCodeAt(0)
  if (code >= 0x61 && code <= 0x7a) return char
  if (char.trim() === '') return ' '
  return folded[char] ?? char.normalize('NFKC').toLowerCase()
}

/**
 * Finds a quote in a folded text and returns its range in the original. The match begins and ends
 * at the edge of a word and of a number: `the fee is 1` is no quote from `the fee is 1.50`.
 */
export function matchQuote(quote: string, text: FoldedText): Range | undefined {
  const wanted = foldText(quote).text.trim()
  if (wanted.length < quoteLength_min) return undefined
  let at = text.text.indexOf(wanted)
  // A repeated text is searched at a bounded number of places.
  for (let attempt = 0; at !== -1 && attempt < 1_000; attempt++) {
    if (hasEdges(text.text, at, at + wanted.length)) {
      return [text.starts[at] ?? 0, text.ends[at + wanted.length - 1] ?? 0]
    }
    at = text.text.indexOf(wanted, at + 1)
  }
  return undefined
}

const wordCharacter = /[\p{L}\p{M}\p{N}_]/u

function hasEdges(text: string, start: number, end: number): boolean {
  return !joins(text, start) && !joins(text, end)
}

/** Reports whether a word or number continues across a position. */
function joins(text: string, position: number): boolean {
  const before = text[position - 1] ?? ''
  const after = text[position] ?? ''
  if (wordCharacter.test(before) && wordCharacter.test(after)) return true
  const isSeparator = (char: string) => char === '.' || char === ','
  const digit = /\d/
  if (digit.test(before) && isSeparator(after)) return digit.test(text[position + 1] ?? '')
  return isSeparator(before) && digit.test(after) && digit.test(text[position - 2] ?? '')
}
