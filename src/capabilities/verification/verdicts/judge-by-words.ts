import { isNear, type Passage, type Question } from '../knowledge/library.ts'
import { grammarWords } from '../text/tokens.ts'
import { gravity, likeness } from './alike-words.ts'
import {
  type ComparedSentence,
  compareSentences,
  isQuoted,
  isRival,
  type ReadClaim,
  readClaim,
} from './compare-claim.ts'
import { type Clash, findClashes } from './find-clashes.ts'
import { fitSubject, type SubjectFit } from './find-subject.ts'
import { fitsColumn } from './fit-column.ts'
import { readSigns, type SupportSigns, scoreSupport } from './support-score.ts'
import type { Judgement } from './verdict.ts'

/** Probability from which words alone support a claim, once every gate is passed. */
const supported_min = 0.65
/** Words of the claim, without grammar, that a supporting sentence may lack. */
const missingWords_max = 1
/** Share of the names of a question that a supporting sentence must have. */
const subjects_min = 0.6
/** Words of a claim that are more than grammar; a claim of fewer says too little to compare. */
const claimWords_min = 4
const claimWordsWithNumber_min = 3
/** Lead of a claim's number over others of its kind in a sentence. */
const lead_min = 0.1
/** Probability from which a passage is shown with a claim that stays `unverifiable`. */
const shown_min = 0.2
/** Recall from which a passage is shown. */
const shownRecall_min = 0.2
/** Recall that a sentence with other numbers may lack and still dispute a claim. */
const disputeSlack = 0.15
/** Share of its support that a claim keeps when sources disagree. */
const disputedShare = 0.9

export interface WordJudgement extends Judgement {
  /** How well the sources support the claim, 0–1; ranks claims for review. */
  readonly support: number
}

/** A claim, its best sentence, and what speaks for and against its support. */
interface Comparison {
  readonly claim: ReadClaim
  readonly best: ComparedSentence
  readonly clashes: readonly Clash[]
  readonly subject: SubjectFit
  readonly signs: SupportSigns
  readonly isDisputed: boolean
}

/**
 * Judges a claim by the words of its passages. Words find evidence but cannot refute: the verdict
 * is `supported` for a verbatim quote, or for a sentence with nearly all words, every number and
 * name, no clash, and a title that fits the question. Everything else is `unverifiable` with the
 * passage, or `not_found`. The support is a probability from a few signs, `readSigns`.
 */
export function judgeByWords(asked: Question, passages: readonly Passage[]): WordJudgement {
  const claim = readClaim(asked, passages[0]?.weights ?? new Map())
  const compared = compareSentences(claim, passages)
  const quoted = compared.find(({ text }) => isQuoted(claim.text, text))
  if (quoted !== undefined && !hasDispute(quoted, compared)) {
    const evidence = evidenceOf(quoted)
    return { verdict: 'supported', confidence: 0.95, method: 'quote', evidence, support: 0.95 }
  }
  const comparison = compare(claim, compared)
  if (comparison === undefined) return missing(0)
  const { best, signs, isDisputed } = comparison
  const support = scoreSupport(signs) * (isDisputed ? disputedShare : 1)
  if (best.recall < shownRecall_min || support < shown_min) return missing(support)
  const evidence = evidenceOf(best)
  if (support >= supported_min && isComplete(comparison)) {
    return { verdict: 'supported', confidence: 0.9, method: 'words', evidence, support }
  }
  return { verdict: 'unverifiable', confidence: 0.5, method: 'words', evidence, support }
}

function missing(support: number): WordJudgement {
  return { verdict: 'not_found', confidence: 0.5, method: 'words', evidence: [], support }
}

function compare(claim: ReadClaim, compared: readonly ComparedSentence[]): Comparison | undefined {
  const [best] = compared
  if (best === undefined) return undefined
  const source = compared.filter(({ passage }) => passage.source === best.passage.source)
  const clashes = findClashes(claim, best)
  const subject = fitSubject(claim, best, compared)
  const signs = readSigns(claim, best, source, { clashes, hasRival: subject.hasRival })
  return { claim, best, clashes, subject, signs, isDisputed: hasDispute(best, compared) }
}

/** `It`, `this` and the like at the beginning: another sentence has their meaning. */
const pronoun =
  /^\W{0,4}(?:it|this|that|these|those|they|es|das|dies\w*|sie|cela|ceci|ça|ils?|elles?|esto|eso|ese|esta)(?!\p{L})/iu

/** A comparison of two things; words do not show which of them is greater. */
const comparative = /(?<!\p{L})(?:than|als|wie|que) (?![\W]*\d)/iu

/** Reports whether the best sentence passes every gate that words can pass. */
function isComplete({ claim, best, clashes, subject, signs, isDisputed }: Comparison): boolean {
  return (
    clashes.length === 0 &&
    !isDisputed &&
    !subject.isOther &&
    !subject.hasRival &&
    !subject.isOutdated &&
    best.found.length === claim.numbers.length &&
    hasAllNames(claim, best) &&
    hasEnoughWords(claim, best) &&
    !isDeniedTwice(claim) &&
    !pronoun.test(claim.text) &&
    !comparative.test(claim.text) &&
    fitsColumn(claim, best) &&
    (signs.nearNumbers >= lead_min || !hasFurtherNumber(claim, best))
  )
}

function hasAllNames({ names, subjects }: ReadClaim, { around }: ComparedSentence): boolean {
  const known = [...subjects].filter((name) => around.terms.has(name)).length
  return [...names].every((name) => around.terms.has(name)) && known >= subjects.size * subjects_min
}

function hasEnoughWords({ words, weights, numbers }: ReadClaim, best: ComparedSentence): boolean {
  const content = [...words.terms].filter((term) => !grammarWords.has(term))
  const least = numbers.length > 0 ? claimWordsWithNumber_min : claimWords_min
  const telling = [...weights.keys()].filter((term) => gravity(term) === 1)
  const lacking = telling.filter((term) => likeness(term, best.around) === 0)
  return content.length >= least && lacking.length <= missingWords_max
}

/** Reports whether a sentence has a number of the kind of a claim's that the claim lacks. */
function hasFurtherNumber({ numbers }: ReadClaim, best: ComparedSentence): boolean {
  const further = best.numbers.filter((other) => !numbers.some((number) => isNear(number, other)))
  return further.some((other) => numbers.some((number) => isRival(number, other)))
}

function evidenceOf({ passage: { source, text, at } }: ComparedSentence): Judgement['evidence'] {
  return [{ source, quote: text, at }]
}

/**
 * Reports whether sources disagree: a sentence that has as many of the claim's words as the best
 * one has another number of the same kind instead of the claim's.
 */
function hasDispute(best: ComparedSentence, compared: readonly ComparedSentence[]): boolean {
  return compared.some(
    (other) => other !== best && other.hasOtherNumber && other.recall >= best.recall - disputeSlack,
  )
}

/** Two negations in one claim: words do not show what it denies. */
function isDeniedTwice({ hasNegation, isNegated }: ReadClaim): boolean {
  return hasNegation && !isNegated
}
