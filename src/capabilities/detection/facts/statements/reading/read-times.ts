import { boundOf, numberOf, numberSource, type Range, rangeOf } from '../vocabulary/amounts.ts'

const times = new RegExp(
  `(?<![\\p{L}])(?:(?<word>once|twice|thrice|einmal|zweimal|dreimal)|(?:(?<low>${numberSource})\\s?(?:to|-|–|or|bis|a|à)\\s?)?(?<n>${numberSource})[ -]?(?:times?|mal|veces|vez|fois|次|回))(?![\\p{Script=Latin}])`,
  'iu',
)
/** "No more than one ⟦0⟧ per text". */
const limitBefore = new RegExp(`(?:more than|most|maximum of|max) (${numberSource})\\s*$`, 'iu')
const valueOfTimes: Record<string, number> = {
  once: 1,
  twice: 2,
  thrice: 3,
  einmal: 1,
  zweimal: 2,
  dreimal: 3,
}

/** Reads how often a word is to be used: "at least once", "exactly three times". */
export function countOf(text: string, isBefore = false): Range | undefined {
  const near = isBefore ? text : text.slice(0, 60)
  const limit = isBefore ? numberOf(limitBefore.exec(near)?.[1] ?? '') : undefined
  if (limit !== undefined) return { max: limit }
  const match = times.exec(near)
  if (match === null) return undefined
  const rest = near.slice(match.index + match[0].length)
  const isBeside = isBefore
    ? /^[\s,:]*(?:the |a |by )*(?:word |phrase )?$/i.test(rest)
    : !/[.;]|,(?! (?:exactly|precisely|at (?:least|most)|once|twice|no more|never more|max)\b)/.test(
        near.slice(0, match.index),
      )
  return isBeside ? rangeAround(match, near.slice(0, match.index), rest) : undefined
}

function rangeAround({ groups }: RegExpExecArray, left: string, right: string): Range | undefined {
  const count = valueOfTimes[groups?.['word']?.toLowerCase() ?? ''] ?? numberOf(groups?.['n'] ?? '')
  if (count === undefined) return undefined
  const low = numberOf(groups?.['low'] ?? '')
  return low !== undefined && low < count
    ? { min: low, max: count }
    : rangeOf(boundOf(left, right), count)
}
