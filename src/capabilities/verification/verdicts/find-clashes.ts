import { isNear } from '../knowledge/library.ts'
import { stem } from '../text/tokens.ts'
import { isComparable, type Quantity } from '../values/quantities.ts'
import { alikeOf, hasOpposite, likeness } from './alike-words.ts'
import { hasSibling, isOverstated } from './claim-words.ts'
import type { ComparedSentence, ReadClaim } from './compare-claim.ts'

/** A difference between a sentence and a claim that share their words. */
export type Clash =
  | 'opposite'
  | 'bound'
  | 'counted'
  | 'ordinal'
  | 'overstated'
  | 'generalised'
  | 'frequency'
  | 'order'
  | 'sibling'
  | 'negation'
  | 'qualifier'

/** Lists what a sentence says otherwise than a claim. */
export function findClashes(claim: ReadClaim, sentence: ComparedSentence): Clash[] {
  const found: readonly (readonly [Clash, boolean])[] = [
    ['opposite', [...claim.words.terms].some((term) => hasOpposite(term, sentence.words))],
    ['bound', hasOtherBound(claim.numbers, sentence.numbers)],
    ['counted', claim.numbers.some((number) => countsOther(number, sentence.numbers))],
    ['ordinal', hasOtherOrdinal(claim.text, sentence.text)],
    ['overstated', isOverstated(claim.text, sentence.text)],
    ['generalised', general.test(claim.text) && !general.test(sentence.text)],
    ['frequency', frequency.test(claim.text) !== frequency.test(sentence.text)],
    ['order', !hasSameOrder(claim.anchors, sentence)],
    ['sibling', hasSibling(claim.text, sentence.text)],
    ['negation', claim.isNegated !== sentence.isNegated],
    ['qualifier', sentence.hasQualifier && !claim.hasQualifier],
  ]
  return found.flatMap(([clash, isFound]) => (isFound ? [clash] : []))
}

/** Words of what is usual: `most guests`, `on average`. */
const general =
  /(?<!\p{L})(?:usual(?:ly)?|typical(?:ly)?|mostly|often|most (?!of the|\p{L}+est)\p{L}+s|popular|average|frequent(?:ly)?|common(?:ly)?|recommend(?:s|ed)?|gewöhnlich|meist(?:ens)?|oft|durchschnittlich|souvent|habituellement|en moyenne|normalmente|a menudo)(?!\p{L})/iu

/** `Every two years` beside `every year`. */
const frequency =
  /(?<!\p{L})(?:every (?:other|second|third|two|three|four|five|six|\d+)|alle (?:zwei|drei|vier|fünf|\d+)|tous les|toutes les|cada (?:dos|tres|\d+))(?!\p{L})/iu

const directions = { 'at least': 1, 'more than': 1, 'at most': -1, 'less than': -1 } as const

function directionOf({ bound }: Quantity): number {
  return bound === undefined ? 0 : directions[bound]
}

/** Finds `at most 40` beside `at least 40`, and `at least 4 hours` beside `at least 6 hours`. */
function hasOtherBound(stated: readonly Quantity[], known: readonly Quantity[]): boolean {
  return stated.some((number) => {
    const direction = directionOf(number)
    if (direction === 0) return false
    const near = known.filter((other) => isNear(number, other))
    const opposed = near.filter((other) => directionOf(other) === -direction)
    const alike = known.filter(
      (other) => isComparable(number, other) && directionOf(other) === direction,
    )
    const isSame = ({ value }: Quantity) => Math.abs(value - number.value) <= Math.abs(value) * 1e-6
    return (
      (near.length > 0 && opposed.length === near.length) ||
      (alike.length > 0 && !known.some((other) => isComparable(number, other) && isSame(other)))
    )
  })
}

/** Finds `five bulls` beside `five cows`. */
function countsOther(number: Quantity, known: readonly Quantity[]): boolean {
  const { counted } = number
  if (counted === undefined) return false
  const near = known.filter((other) => isNear(number, other))
  const isAlike = (other: Quantity) =>
    other.counted === undefined || likeness(stem(counted), alikeOf([stem(other.counted)])) > 0
  return near.length > 0 && !near.some(isAlike)
}

const ordinal =
  /(?<!\p{L})(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d+(?:st|nd|rd|th)|erste[rns]?|zweite[rns]?|dritte[rns]?|letzte[rns]?|premi[eè]re?|deuxi[eè]me|primer[oa]?|segund[oa])(?!\p{L})/gu

function hasOtherOrdinal(claim: string, sentence: string): boolean {
  const known = new Set(sentence.toLowerCase().match(ordinal) ?? [])
  return (claim.toLowerCase().match(ordinal) ?? []).some((word) => !known.has(word))
}

/**
 * Reports whether the names and numbers of a claim come in the same order in a sentence, so that
 * `A has 15 %, B has 25 %` does not support `A has 25 %, B has 15 %`.
 */
function hasSameOrder(anchors: readonly string[], { tokens }: ComparedSentence): boolean {
  const terms = tokens.map(({ term }) => term)
  let last = -1
  for (const anchor of anchors) {
    const place = terms.indexOf(anchor, last + 1)
    if (place === -1 && terms.includes(anchor)) return false
    if (place !== -1) last = place
  }
  return true
}
