import { isNear } from '../knowledge/library.ts'
import { grammarWords } from '../text/tokens.ts'
import { gravity, likeness } from './alike-words.ts'
import { type ComparedSentence, isRival, type ReadClaim } from './compare-claim.ts'
import type { Clash } from './find-clashes.ts'
import type { SubjectFit } from './find-subject.ts'
import { fitsColumn } from './fit-column.ts'
import type { SupportSigns } from './support-score.ts'

/** Words of the claim, without grammar, that a supporting sentence may lack: 1, or a share. */
const missingWords_max = 1
const missingShare_max = 0.25
/** Share of the names of a question that a supporting sentence must have. */
const subjects_min = 0.6
/** Words of a claim that are more than grammar; a claim of fewer says too little to compare. */
const claimWords_min = 4
const claimWordsWithNumber_min = 3
/** Lead of a claim's number over others of its kind in a sentence. */
const lead_min = 0

/** A claim, its best sentence, and what speaks for and against its support. */
export interface Comparison {
  readonly claim: ReadClaim
  readonly best: ComparedSentence
  readonly clashes: readonly Clash[]
  readonly subject: SubjectFit
  readonly signs: SupportSigns
  readonly isDisputed: boolean
}

/** `It`, `this` and the like at the beginning: another sentence has their meaning. */
const pronoun =
  /^\W{0,4}(?:it|this|that|these|those|they|es|das|dies\w*|sie|cela|ceci|ça|ils?|elles?|esto|eso|ese|esta)(?!\p{L})/iu

/** A comparison of two things; words do not show which of them is greater. */
const comparative = /(?<!\p{L})(?:than|als|wie|que) (?![\W]*\d)/iu

/** Lists the reasons why the words of the best sentence do not support a claim by themselves. */
export function findObstacles(comparison: Comparison): string[] {
  const { claim, best, clashes, subject, signs, isDisputed } = comparison
  const obstacles: readonly (readonly [string, boolean])[] = [
    ...clashes.map((clash) => [clash, true] as const),
    ['disputed', isDisputed],
    ['other subject', subject.isOther],
    ['rival subject', subject.hasRival],
    ['outdated source', subject.isOutdated],
    ['number', best.found.length < claim.numbers.length],
    ['name', ![...claim.names].every((name) => best.around.terms.has(name))],
    ['name of the question', !hasSubjects(claim, best)],
    ['words', !hasEnoughWords(claim, best)],
    ['two negations', claim.hasNegation && !claim.isNegated],
    ['pronoun', pronoun.test(claim.text)],
    ['comparison', comparative.test(claim.text)],
    ['column', !fitsColumn(claim, best)],
    ['further number', signs.nearNumbers < lead_min && hasFurtherNumber(claim, best)],
  ]
  return obstacles.flatMap(([obstacle, isFound]) => (isFound ? [obstacle] : []))
}

function hasSubjects({ subjects }: ReadClaim, { around }: ComparedSentence): boolean {
  const known = [...subjects].filter((name) => around.terms.has(name)).length
  return known >= subjects.size * subjects_min
}

function hasEnoughWords({ words, weights, numbers }: ReadClaim, best: ComparedSentence): boolean {
  const content = [...words.terms].filter((term) => !grammarWords.has(term))
  const least = numbers.length > 0 ? claimWordsWithNumber_min : claimWords_min
  const telling = [...weights.keys()].filter((term) => gravity(term) === 1)
  const lacking = telling.filter((term) => likeness(term, best.around) === 0)
  const mayLack = Math.max(missingWords_max, telling.length * missingShare_max)
  return content.length >= least && lacking.length <= mayLack
}

/** Reports whether a sentence has a number of the kind of a claim's that the claim lacks. */
function hasFurtherNumber({ numbers }: ReadClaim, best: ComparedSentence): boolean {
  const further = best.numbers.filter((other) => !numbers.some((number) => isNear(number, other)))
  return further.some((other) => numbers.some((number) => isRival(number, other)))
}
