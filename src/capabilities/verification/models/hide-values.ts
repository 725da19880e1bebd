import { tokenize } from '../../provenance/text/index.ts'
import { readValues } from '../../provenance/values/index.ts'
import type { Blank } from './blank-question.ts'
import { isSameAnswer } from './compare-answers.ts'

type Hidden = { number: number; at: readonly [start: number, end: number] }

/**
 * Replaces the values of blanks in another text, in any spelling. Otherwise the models could repeat
 * a value that the question names.
 */
export function hideValues(text: string, blanks: readonly Blank[]): string {
  const parts: string[] = []
  let from = 0
  for (const { number, at } of findHidden(text, blanks)) {
    const [start, end] = at
    if (start < from) continue
    parts.push(text.slice(from, start), `____${number}`)
    from = end
  }
  return parts.join('') + text.slice(from)
}

function findHidden(text: string, blanks: readonly Blank[]): Hidden[] {
  const values = readValues(text)
  const words = tokenize(text)
  const found = blanks.flatMap((blank, index): Hidden[] => {
    const number = index + 1
    if (blank.kind !== 'name') {
      return values.flatMap(({ text: value, at }) =>
        isSameAnswer(blank, value) ? { number, at } : [],
      )
    }
    const name = new Set(tokenize(blank.text).map(({ term }) => term))
    return words.flatMap(({ term, start, end }) =>
      name.has(term) ? { number, at: [start, end] as const } : [],
    )
  })
  return found.sort((one, other) => one.at[0] - other.at[0])
}
