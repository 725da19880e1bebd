import { isNear } from '../knowledge/library.ts'
import { type ComparedSentence, isRival, type ReadClaim } from './compare-claim.ts'
import type { Clash } from './find-clashes.ts'
import type { SubjectFit } from './find-subject.ts'
import { fitsColumn } from './fit-table.ts'
import type { SupportSigns } from './support-score.ts'

/** Lead of a claim's number over others of its kind in a sentence. */
const lead_min = 0
/** Differences that are signs of the score only: most claims with one are supported. */
const weakClashes: ReadonlySet<Clash> = new Set(['qualifier', 'frequency'])

/** A claim, its best sentence, and what speaks for and against its support. */
export interface Comparison {
  readonly claim: ReadClaim
  readonly best: ComparedSentence
  readonly clashes: readonly Clash[]
  readonly subject: SubjectFit
  readonly signs: SupportSigns
  readonly isDisputed: boolean
  /** The sentence is no row of a table, or the row that the claim or its question names. */
  readonly isOwnRow: boolean
}

/**
 * Lists the reasons why the words of the best sentence do not support a claim, however alike they
 * are: another subject, number, bound or column, a denial, or sources that disagree.
 */
export function findObstacles(comparison: Comparison): string[] {
  const { claim, best, clashes, subject, signs, isDisputed, isOwnRow } = comparison
  const obstacles: readonly (readonly [string, boolean])[] = [
    ...clashes.map((clash) => [clash, !weakClashes.has(clash)] as const),
    ['disputed', isDisputed],
    ['other subject', subject.isOther],
    ['rival subject', subject.hasRival],
    ['name of another source', subject.isNamedElsewhere],
    ['year', subject.lacksYear],
    ['outdated source', subject.isOutdated],
    ['number', signs.openValues > 0 || best.hasOtherNumber],
    ['further number', signs.nearNumbers < lead_min && hasFurtherNumber(claim, best)],
    ['name', ![...claim.names].every((name) => best.around.terms.has(name))],
    ['column', !fitsColumn(claim, best)],
    ['row', !isOwnRow],
  ]
  return obstacles.flatMap(([obstacle, isFound]) => (isFound ? [obstacle] : []))
}

/** Reports whether a sentence has a number of the kind of a claim's that the claim lacks. */
function hasFurtherNumber({ numbers }: ReadClaim, best: ComparedSentence): boolean {
  const further = best.numbers.filter((other) => !numbers.some((number) => isNear(number, other)))
  return further.some((other) => numbers.some((number) => isRival(number, other)))
}
