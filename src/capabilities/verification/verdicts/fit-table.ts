import { grammarWords, tokenize } from '../../provenance/text/index.ts'
import { readQuantities } from '../../provenance/values/index.ts'
import { isNear } from '../knowledge/library.ts'
import { type AlikeWords, likeness } from './alike-words.ts'
import type { ComparedSentence, ReadClaim } from './compare-claim.ts'

const separator = ' | '

/**
 * Reports whether a claim or its question names the column of a table's row that has its number,
 * and no other column better. A sentence that is not a row, or a row with one value, fits.
 */
export function fitsColumn(claim: ReadClaim, { text, passage }: ComparedSentence): boolean {
  const cells = text.split(separator)
  const values = cells.flatMap((cell, at) => (at > 0 && /\d/.test(cell) ? [at] : []))
  if (values.length < 2 || claim.numbers.length === 0) return true
  const header = (passage.context.split('\n')[1] ?? '').split(separator)
  // The first cell of a header is often empty, and then left out.
  const offset = header.length === cells.length - 1 ? 1 : 0
  const isOwn = (at: number) =>
    readQuantities(cells[at] ?? '').some((other) =>
      claim.numbers.some((number) => isNear(number, other)),
    )
  const own = values.filter(isOwn)
  const fitOf = (at: number) => shareWords(header[at - offset] ?? '', claim.asked)
  const most = Math.max(0, ...values.filter((at) => !own.includes(at)).map(fitOf))
  return own.length === 0 || own.some((at) => fitOf(at) > 0 && fitOf(at) >= most)
}

/**
 * Reports whether a claim and its question name the row of a table rather than another one:
 * `Single ride` does not fit a question about the month pass if `Month` is a row too.
 */
export function fitsRow(
  { asked }: ReadClaim,
  best: ComparedSentence,
  compared: readonly ComparedSentence[],
): boolean {
  const label = labelOf(best)
  if (label === '' || shareWords(label, asked) === 1) return true
  const own = new Set(wordsOf(label))
  const isNamed = (other: string) =>
    shareWords(other, asked) === 1 && wordsOf(other).some((word) => !own.has(word))
  return !compared.some((other) => isSameTable(best, other) && isNamed(labelOf(other)))
}

function isSameTable(one: ComparedSentence, { passage }: ComparedSentence): boolean {
  return one.passage.source === passage.source && one.passage.context === passage.context
}

/** Returns the first cell of a row below a header; empty for other sentences. */
function labelOf({ text, passage }: ComparedSentence): string {
  const header = passage.context.split('\n')[1] ?? ''
  if (header === '' || header === text || !text.includes(separator)) return ''
  return text.split(separator, 1)[0] ?? ''
}

/** Returns the share of a cell's words, without grammar, that a set has. */
function shareWords(cell: string, known: AlikeWords): number {
  const telling = wordsOf(cell)
  if (telling.length === 0) return 0
  return telling.filter((term) => likeness(term, known) > 0).length / telling.length
}

function wordsOf(cell: string): string[] {
  const terms = new Set(tokenize(cell).map(({ term }) => term))
  return [...terms].filter((term) => !grammarWords.has(term))
}
