import { isComparable } from '../../provenance/values/index.ts'
import { isNear } from '../knowledge/library.ts'
import { gravity, likeness } from './alike-words.ts'
import { type ComparedSentence, isRival, type ReadClaim } from './compare-claim.ts'
import type { Clash } from './find-clashes.ts'
import type { SubjectFit } from './find-subject.ts'
import { fitsColumn } from './fit-table.ts'
import type { SupportSigns } from './support-score.ts'

/** Lead of a claim's number over others of its kind in a sentence. */
const lead_min = 0
/** Differences that are signs of the score only: most claims with one are supported. */
const weakClashes: ReadonlySet<Clash> = new Set(['qualifier', 'frequency'])

/** A claim, its best sentence, and the evidence for and against its support. */
export interface Comparison {
  readonly claim: ReadClaim
  readonly best: ComparedSentence
  readonly clashes: readonly Clash[]
  readonly subject: SubjectFit
  readonly signs: SupportSigns
  readonly isDisputed: boolean
  /** The sentence is not a row of a table, or the row that the claim or its question names. */
  readonly isOwnRow: boolean
}

/** `That is` and the like at the beginning: another sentence names what is meant. */
const pronoun =
  /^\W{0,4}(?:that|this|these|those|das|dies\w*|ce|cela|esto|eso|ese|esta)(?:['’]s| is| are| was| were| ist| sind| est| es)(?!\p{L})/iu

/**
 * Lists the reasons why the words of the best sentence do not support a claim even if they are
 * similar: another subject, number, bound or column, a denial, or sources that disagree.
 */
export function findObstacles(comparison: Comparison): string[] {
  const { claim, best, clashes, subject, signs, isDisputed, isOwnRow } = comparison
  const obstacles: readonly (readonly [string, boolean])[] = [
    ...clashes.map((clash) => [clash, !weakClashes.has(clash)] as const),
    ['disputed', isDisputed],
    ['other subject', subject.isOther],
    ['rival subject', subject.hasRival],
    ['name of another source', subject.isNamedElsewhere],
    ['name of the question', subject.isUnnamed],
    ['year', subject.lacksYear],
    ['outdated source', subject.isOutdated],
    ['number', signs.openValues > 0 || lacksNumber(claim, best)],
    ['further number', signs.nearNumbers < lead_min && hasFurtherNumber(claim, best)],
    ['name', ![...claim.names].every((name) => best.around.terms.has(name))],
    ['predicate', lacksPredicate(claim, best)],
    ['pronoun', pronoun.test(claim.text)],
    ['short', countTelling(claim) < telling_min],
    ['column', !fitsColumn(claim, best)],
    ['row', !isOwnRow],
  ]
  return obstacles.flatMap(([obstacle, isFound]) => (isFound ? [obstacle] : []))
}

/** Telling words, names and numbers that a claim needs to be compared by words. */
const telling_min = 4

function countTelling({ words, numbers }: ReadClaim): number {
  return [...words.terms].filter((term) => gravity(term) === 1).length + numbers.length
}

/** Reports whether a sentence lacks a telling word of a claim: `consistent` beside `against`. */
function lacksPredicate({ words, names }: ReadClaim, { around }: ComparedSentence): boolean {
  return [...words.terms].some(
    (term) => gravity(term) === 1 && !names.has(term) && likeness(term, around) === 0,
  )
}

/** Reports whether a sentence has other numbers instead of one of a claim's. */
function lacksNumber({ numbers }: ReadClaim, best: ComparedSentence): boolean {
  const missing = numbers.filter((number) => !best.found.includes(number))
  return missing.some((number) => best.numbers.some((other) => isComparable(number, other)))
}

/** Reports whether a sentence has a number of the kind of a claim's that the claim lacks. */
function hasFurtherNumber({ numbers }: ReadClaim, best: ComparedSentence): boolean {
  const further = best.numbers.filter((other) => !numbers.some((number) => isNear(number, other)))
  return further.some((other) => numbers.some((number) => isRival(number, other)))
}
