import { stem, type Token, tokenize } from '../../provenance/text/index.ts'
import {
  isComparable,
  isSameKind,
  type Quantity,
  readDates,
} from '../../provenance/values/index.ts'
import { isNear } from '../knowledge/library.ts'
import { alikeOf, gravity, hasOpposite, likeness } from './alike-words.ts'
import { hasSibling, isOverstated } from './claim-words.ts'
import type { ComparedSentence, ReadClaim, ReadText } from './compare-claim.ts'

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
  | 'swapped'
  | 'sibling'
  | 'negation'
  | 'qualifier'
  | 'unit'
  | 'month'
  | 'added'

/** Lists the differences between a sentence and a claim. */
export function findClashes(claim: ReadClaim, sentence: ComparedSentence): Clash[] {
  const found: readonly (readonly [Clash, boolean])[] = [
    ['opposite', [...claim.words.terms].some((term) => hasOpposite(term, sentence.words))],
    ['bound', hasOtherBound(claim.numbers, sentence.numbers)],
    [
      'counted',
      claim.numbers.some((number) => countsOther(number, sentence.numbers)) ||
        countsOneOfMany(claim, sentence),
    ],
    ['ordinal', hasOtherOrdinal(claim.text, sentence.text)],
    ['overstated', isOverstated(claim.text, sentence.text)],
    ['generalised', general.test(claim.text) && !general.test(sentence.text)],
    ['frequency', frequency.test(claim.text) !== frequency.test(sentence.text)],
    ['order', !hasSameOrder(claim.anchors, sentence)],
    ['swapped', hasSwappedSides(claim.text, sentence.text)],
    ['sibling', hasSibling(claim.text, sentence.text)],
    ['negation', deniesOtherwise(claim, sentence)],
    ['qualifier', sentence.hasQualifier && !claim.hasQualifier],
    ['unit', claim.numbers.some((number) => hasOtherUnit(number, sentence.numbers))],
    ['month', hasOtherMonth(claim.text, sentence.text)],
    ['added', added.test(claim.text) && !added.test(sentence.text)],
  ]
  return found.flatMap(([clash, isFound]) => (isFound ? [clash] : []))
}

/** Words that extend a statement to another subject: `the battery as well`. */
const added = /(?<!\p{L})(?:also|as well|too|even|auch|aussi|también)(?!\p{L})/iu

/**
 * Reports whether only one of two texts denies something. Two negations may deny nothing, but a
 * text without any does not say the same: `No. A cannot …` has two.
 */
function deniesOtherwise(claim: ReadText, sentence: ReadText): boolean {
  return claim.isNegated !== sentence.isNegated || claim.hasNegation !== sentence.hasNegation
}

/** Words of usual cases: `most guests`, `on average`. */
const general =
  /(?<!\p{L})(?:usual(?:ly)?|typical(?:ly)?|mostly|often|most (?!of the|\p{L}+est)\p{L}+s|popular|average|frequent(?:ly)?|common(?:ly)?|recommend(?:s|ed)?|gewöhnlich|meist(?:ens)?|oft|durchschnittlich|souvent|habituellement|en moyenne|normalmente|a menudo)(?!\p{L})/iu

/** `Every two years` beside `every year`. */
const frequency =
  /(?<!\p{L})(?:every (?:other|second|third|two|three|four|five|six|\d+)|alle (?:zwei|drei|vier|fünf|\d+)|tous les|toutes les|cada (?:dos|tres|\d+))(?!\p{L})/iu

const directions = { 'at least': 1, 'more than': 1, 'at most': -1, 'less than': -1 } as const

function directionOf({ bound }: Quantity): number {
  return bound === undefined ? 0 : directions[bound]
}

/** Finds `at least 6 hours` where no 6 hours are a lower bound: at most, exactly, or at least 4. */
function hasOtherBound(stated: readonly Quantity[], known: readonly Quantity[]): boolean {
  return stated.some((number) => {
    const direction = directionOf(number)
    const isEqual = (other: Quantity) =>
      isComparable(number, other) &&
      directionOf(other) === direction &&
      Math.abs(other.value - number.value) <= Math.abs(other.value) * 1e-6
    return direction !== 0 && !known.some(isEqual)
  })
}

/** Finds `five bulls` beside `five cows and two bulls`. */
function countsOther(number: Quantity, known: readonly Quantity[]): boolean {
  const { counted } = number
  if (counted === undefined) return false
  const own = alikeOf([stem(counted)])
  const alike = known.filter((other) => likeness(stem(other.counted ?? ''), own) > 0)
  return alike.length > 0 && !alike.some((other) => isNear(number, other))
}

/** Finds `$30 million` beside `€30 million`. */
function hasOtherUnit({ value, kind }: Quantity, known: readonly Quantity[]): boolean {
  const equal = known.filter((other) => other.value === value)
  return (
    kind !== undefined &&
    equal.some((other) => other.kind !== undefined) &&
    !equal.some((other) => other.kind === undefined || isSameKind(kind, other.kind))
  )
}

/** Finds `May 2026` beside `March 2026`. */
function hasOtherMonth(claim: string, sentence: string): boolean {
  const known = new Set(readMonths(sentence))
  return known.size > 0 && readMonths(claim).some((month) => !known.has(month))
}

function readMonths(text: string): number[] {
  return readDates(text).flatMap(({ days = [] }) => days.map(({ month }) => month))
}

/** `First` and `last` have too many meanings, and `3rd` is a day. */
const ordinal =
  /(?<!\p{L})(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|zweite[rns]?|dritte[rns]?|deuxi[eè]me|segund[oa])(?!\p{L})/gu

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

/** One of something; `one of the cranes` and `one can` count nothing. */
const single =
  /(?<!\p{L})(?:one|a single|(?:nur |genau )?(?:ein(?:e[mnrs]?)? einzige[mnrs]?)|un seul|une seule|un solo|una sola)(?= (?!of |can |must |may |should |has |is |cannot |could |would |the |von |der )\p{L})/giu
/** Words behind a number that may name what is counted. */
const counted_words = 3

/** Reports whether a claim counts one of what a sentence counts several, or the other way round. */
function countsOneOfMany(
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

/** Words between two things whose order matters: `A is heavier than B`, `A displaces B`. */
const relations =
  /(?<!\p{L})(?:than|als|exceed\w*|outperform\w*|beat(?:s|en)?|defeat\w*|displac\w+|replac\w+|supersed\w+|caus(?:e|es|ed|ing)|acquir\w+|bought|preced\w+|follow(?:s|ed)?|before|after|own(?:s|ed)?|contain(?:s|ed)?|eats?|ate|depends? on|leads? to|led to|results? in|turns? into|übertrifft|verdrängt|ersetzt|verursacht)(?!\p{L})/giu
/** In `B is displaced by A` the sides are exchanged. */
const passive = /^[^.;]{0,20}?(?<!\p{L})(?:by|von|durch)(?!\p{L})/iu

type Sides = { relation: string; left: ReadonlySet<string>; right: ReadonlySet<string> }

/**
 * Reports whether a sentence has what a claim compares or relates the other way round: `iron is
 * more reactive than copper` beside `copper is more reactive than iron`.
 */
function hasSwappedSides(claim: string, sentence: string): boolean {
  const known = readSides(sentence)
  return readSides(claim).some(({ relation, left, right }) =>
    known.some((other) => other.relation === relation && isSwapped({ left, right }, other)),
  )
}

/** One thing is enough: a claim names few, and in the right order no side has one of the other. */
function isSwapped(claim: Omit<Sides, 'relation'>, other: Sides): boolean {
  const only = (one: ReadonlySet<string>, rest: ReadonlySet<string>) =>
    [...one].filter((term) => !rest.has(term))
  const left = only(claim.left, claim.right)
  const right = only(claim.right, claim.left)
  const isOn = (term: string, side: ReadonlySet<string>, rest: ReadonlySet<string>) =>
    side.has(term) && !rest.has(term)
  const moved =
    left.filter((term) => isOn(term, other.right, other.left)).length +
    right.filter((term) => isOn(term, other.left, other.right)).length
  const kept =
    left.filter((term) => isOn(term, other.left, other.right)).length +
    right.filter((term) => isOn(term, other.right, other.left)).length
  return moved > kept || (moved > 0 && right.some((term) => other.left.has(term)))
}

function readSides(text: string): Sides[] {
  return [...text.matchAll(relations)].flatMap((match) => {
    const [written] = match
    const end = match.index + written.length
    const before = termsOf(text.slice(0, match.index))
    const behind = termsOf(text.slice(end))
    const isPassive = passive.test(text.slice(end)) && !/^(?:than|als)$/i.test(written)
    const [left, right] = isPassive ? [behind, before] : [before, behind]
    // `After 10 June` relates no two things.
    if (left.size === 0 || right.size === 0) return []
    return { relation: written.toLowerCase().slice(0, relation_chars), left, right }
  })
}

/** Letters at the start of a relation that its forms share. */
const relation_chars = 4

function termsOf(text: string): ReadonlySet<string> {
  const isTelling = ({ term }: Token) => gravity(term) === 1
  return new Set(
    tokenize(text)
      .filter(isTelling)
      .map(({ term }) => term),
  )
}
