import { isNear } from '../knowledge/library.ts'
import { grammarWords, tokenize } from '../text/tokens.ts'
import { readQuantities } from '../values/quantities.ts'
import { likeness } from './alike-words.ts'
import type { ComparedSentence, ReadClaim } from './compare-claim.ts'

const separator = ' | '

/**
 * Reports whether a claim or its question names the column of a table's row that has its number,
 * and no other column better. A sentence that is no row, or a row with one value, fits.
 */
export function fitsColumn(claim: ReadClaim, { text, passage }: ComparedSentence): boolean {
  const cells = text.split(separator)
  const values = cells.flatMap((cell, at) => (at > 0 && /\d/.test(cell) ? [at] : []))
  if (values.length < 2 || claim.numbers.length === 0) return true
  const header = (passage.context.split('\n')[1] ?? '').split(separator)
  const isOwn = (at: number) =>
    readQuantities(cells[at] ?? '').some((other) =>
      claim.numbers.some((number) => isNear(number, other)),
    )
  const own = values.filter(isOwn)
  const fitOf = (at: number) => fitHeader(claim, header[at] ?? '')
  const most = Math.max(0, ...values.filter((at) => !own.includes(at)).map(fitOf))
  return own.length === 0 || own.some((at) => fitOf(at) > 0 && fitOf(at) >= most)
}

/** Returns the share of a column's words that a claim or its question has. */
function fitHeader({ asked }: ReadClaim, header: string): number {
  const terms = [...new Set(tokenize(header).map(({ term }) => term))]
  const telling = terms.filter((term) => !grammarWords.has(term))
  if (telling.length === 0) return 0
  return telling.filter((term) => likeness(term, asked) > 0).length / telling.length
}
