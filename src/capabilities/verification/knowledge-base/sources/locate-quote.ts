import { type MappedText, type Range, toSource } from '../../../provenance/text/index.ts'
import { quote_chars_max } from '../../contract.ts'

/** A verbatim part of a text, and its range in the source that the text was read from. */
export type LocatedQuote = { quote: string; at: Range }

/** Returns the beginning of a range of a text, at most 500 code units, with its source range. */
export function quoteRange(mapped: MappedText, [start, end]: Range): LocatedQuote {
  const quote = cutText(mapped.text.slice(start, end))
  return { quote, at: toSource(mapped, [start, start + quote.length]) }
}

/**
 * Finds a passage of whole sentences in a text that was read from a source: the passage may have
 * other white space between its sentences. `from` is where it begins in the source, or before.
 */
export function findSentences(
  mapped: MappedText,
  sentences: readonly string[],
  from: number,
): Range | undefined {
  const first = sentences[0] ?? ''
  const last = sentences.at(-1) ?? ''
  const start = mapped.text.indexOf(first, toText(mapped, from))
  if (start === -1) return undefined
  const end = sentences.length < 2 ? start : mapped.text.indexOf(last, start + first.length)
  return end === -1 ? undefined : [start, end + last.length]
}

/** Returns the position in the text that was read at a position of the source, or before. */
export function toText({ pieces }: MappedText, source: number): number {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((pieces[middle]?.source ?? 0) <= source) low = middle
    else high = middle - 1
  }
  const piece = pieces[low]
  if (piece === undefined || piece.source > source) return 0
  const isCopied = piece.length === piece.taken
  return isCopied ? piece.at + Math.min(source - piece.source, piece.length) : piece.at
}

/** Cuts a text to the length of a stored quote, not within a surrogate pair. */
export function cutText(text: string): string {
  if (text.length <= quote_chars_max) return text
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(quote_chars_max - 1))
  return text.slice(0, isHalf ? quote_chars_max - 1 : quote_chars_max)
}
