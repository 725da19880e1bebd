import { boundOf, numberOf, numberSource, type Range, rangeOf } from '../vocabulary/amounts.ts'

const times = new RegExp(
  `(?<![\\p{L}])(?:(?<word>once|twice|thrice|einmal|zweimal|dreimal)|(?<n>${numberSource})[ -]?(?:times?|mal|veces|vez|fois|次|回))(?![\\p{Script=Latin}])`,
  'iu',
)
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
  const match = times.exec(near)
  if (
    match === null ||
    (isBefore &&
      !/^[\s,:]*(?:the |a |by )*(?:word |phrase )?$/i.test(
        near.slice(match.index + match[0].length),
      ))
  )
    return undefined
  if (!isBefore && /[.;]/.test(near.slice(0, match.index))) return undefined
  const count =
    valueOfTimes[match.groups?.['word']?.toLowerCase() ?? ''] ?? numberOf(match.groups?.['n'] ?? '')
  if (count === undefined) return undefined
  return rangeOf(
    boundOf(near.slice(0, match.index), near.slice(match.index + match[0].length)),
    count,
  )
}
