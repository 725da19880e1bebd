import { tokenize } from '../../provenance/text/index.ts'
import type { Quantity } from '../../provenance/values/index.ts'
import { alikeOf, gravity, likeness } from './alike-words.ts'

/** One of something; `one of the cranes` and `one can` count nothing. */
const single =
  /(?<!\p{L})(?:one|a single|(?:nur |genau )?(?:ein(?:e[mnrs]?)? einzige[mnrs]?)|un seul|une seule|un solo|una sola)(?= (?!of |can |must |may |should |has |is |cannot |could |would |the |von |der )\p{L})/giu
/** Words behind a number that may name what is counted. */
const counted_words = 3

/** Reports whether a claim counts one of what a sentence counts several, or the other way round. */
export function countsOneOfMany(
  claim: { text: string; numbers: readonly Quantity[] },
  sentence: { text: string; numbers: readonly Quantity[] },
): boolean {
  const counts = (text: string, numbers: readonly Quantity[]) =>
    numbers.filter(({ value }) => value >= 2).map(({ end, start }) => behind(text, [start, end]))
  const isShared = (ones: readonly string[][], many: readonly string[][]) =>
    ones.some((one) => many.some((other) => sharesWord(one, other)))
  const ofClaim = readOnes(claim.text)
  const ofSentence = readOnes(sentence.text)
  return (
    (ofSentence.length === 0 && isShared(ofClaim, counts(sentence.text, sentence.numbers))) ||
    (ofClaim.length === 0 && isShared(ofSentence, counts(claim.text, claim.numbers)))
  )
}

function readOnes(text: string): string[][] {
  return [...text.matchAll(single)].map(({ index, 0: written }) =>
    behind(text, [index, index + written.length]),
  )
}

/** Returns the telling words at the end of a number and behind it. */
function behind(text: string, [start, end]: readonly [number, number]): string[] {
  const words = tokenize(text.slice(start, end + 60)).map(({ term }) => term)
  return words.slice(0, counted_words + 1).filter((term) => gravity(term) > 0)
}

function sharesWord(one: readonly string[], other: readonly string[]): boolean {
  const known = alikeOf(other)
  return one.some((term) => likeness(term, known) > 0)
}
