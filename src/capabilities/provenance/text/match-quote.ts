import { type FoldedText, foldedText, toOriginal } from './fold.ts'
import type { Range } from './mapped-text.ts'

/** Characters of a quote, normalised; a shorter one occurs by chance. */
export const minQuoteLength = 12

/**
 * Finds a quote in a folded text and returns its range in the original. The match begins and ends
 * at the edge of a word and of a number: `the fee is 1` is not a quote from `the fee is 1.50`.
 */
export function matchQuote(quote: string, text: FoldedText): Range | undefined {
  const wanted = foldedText(quote).trim()
  if (wanted.length < minQuoteLength) return undefined
  let at = text.text.indexOf(wanted)
  // A repeated text is searched at a bounded number of places.
  for (let attempt = 0; at !== -1 && attempt < 1_000; attempt++) {
    if (hasEdges(text.text, at, at + wanted.length)) {
      return toOriginal(text, [at, at + wanted.length])
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
