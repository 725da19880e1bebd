import {
  isNear,
  type Passage,
  type Question,
  shareOfNumbers,
  weighRecall,
} from '../knowledge/library.ts'
import { foldText } from '../text/fold.ts'
import { matchQuote } from '../text/match-quote.ts'
import { splitLinesAndSentences } from '../text/sentences.ts'
import { grammarWords, tokenize } from '../text/tokens.ts'
import { isComparable, type Quantity, readQuantities } from '../values/quantities.ts'
import {
  hasNegation,
  hasQualifier,
  hasSibling,
  isNegated,
  isOverstated,
  readNames,
} from './claim-words.ts'

/** A sentence of a passage, compared with a claim. */
export interface RatedSentence {
  /** It says the claim word for word and does not limit it. */
  readonly isQuote: boolean
  /** It passes every gate that words can pass. */
  readonly isComplete: boolean
  /** It has a number of a kind that the claim has, but not the claim's number. */
  readonly hasOtherNumber: boolean
  readonly sameNegation: boolean
  readonly text: string
  /** Share of the claim's names that it has; 1 without names. */
  readonly names: number
  /** Share of the names of the claim's question that it has; 1 without names. */
  readonly subjects: number
  /** Share of the claim's words, without numbers. */
  readonly recall: number
  /** Share of the claim's terms × (0.3 + 0.7 · share of its numbers). */
  readonly score: number
}

export interface RatedPassage {
  readonly passage: Passage
  readonly sentences: readonly RatedSentence[]
  readonly best: RatedSentence
  /** How well the passage supports the claim, 0–1. */
  readonly support: number
}

/** Shares of the support that remain; chosen on labelled claims by the AUC of the support. */
const share = { names: 0.8, subjects: 0.5, otherNegation: 0.8, incomplete: 0.75, overstated: 0.7 }
/** Share of the names of a question that a sentence must have. */
const subjects_min = 0.6
/** Share of a claim's words, without grammar and numbers, that a sentence must have. */
const contentRecall_min = 0.6
/** Words of a claim that are more than grammar; a claim of fewer says too little to compare. */
const claimWords_min = 4
const claimWordsWithNumber_min = 3

/** The parts of a claim, read once. */
interface ClaimParts {
  readonly text: string
  readonly numbers: readonly Quantity[]
  readonly names: ReadonlySet<string>
  readonly subjects: ReadonlySet<string>
  readonly isNegated: boolean
  /** It denies something, also twice: words do not show what. */
  readonly isDenied: boolean
  /** It begins with a word such as `this`, whose meaning another sentence has. */
  readonly isPronoun: boolean
  readonly content: ReadonlySet<string>
  readonly hasQualifier: boolean
  /** Names and numbers in their order. */
  readonly anchors: readonly string[]
  readonly hasEnoughWords: boolean
}

/** Compares a claim with each sentence of its passages; the best passage comes first. */
export function ratePassages(claim: Question, passages: readonly Passage[]): RatedPassage[] {
  const parts = readClaim(claim)
  return passages
    .flatMap((passage) => ratePassage(parts, passage) ?? [])
    .sort((one, other) => other.support - one.support)
}

function readClaim({ text, context = '' }: Question): ClaimParts {
  const names = readNames(text)
  const terms = tokenize(text).map(({ term }) => term)
  const content = new Set(terms.filter((term) => !grammarWords.has(term)))
  const numbers = readQuantities(text)
  return {
    text,
    numbers,
    names,
    subjects: readNames(context),
    isNegated: isNegated(text),
    isDenied: hasNegation(text),
    isPronoun: pronoun.test(text),
    content,
    hasQualifier: hasQualifier(text),
    anchors: terms.filter((term) => names.has(term) || /^\d/.test(term)),
    hasEnoughWords:
      content.size >= (numbers.length > 0 ? claimWordsWithNumber_min : claimWords_min),
  }
}

function ratePassage(claim: ClaimParts, passage: Passage): RatedPassage | undefined {
  const wordWeights = new Map([...passage.weights].filter(([term]) => !/^\d/.test(term)))
  const sentences = splitLinesAndSentences(passage.text).map(([start, end]) =>
    rateSentence(claim, passage, wordWeights, passage.text.slice(start, end)),
  )
  const [best] = sentences.toSorted((one, other) => other.score - one.score)
  if (best === undefined) return undefined
  const names = shareOf(claim.names, termsOf(`${passage.context}\n${passage.text}`))
  const support =
    ((passage.score + best.score) / 2) *
    (1 - share.names * (1 - names)) *
    (1 - share.subjects * (1 - best.subjects)) *
    (best.sameNegation ? 1 : share.otherNegation) *
    (best.isComplete ? 1 : share.incomplete) *
    (isOverstated(claim.text, best.text) ? share.overstated : 1)
  return { passage, sentences, best, support }
}

function rateSentence(
  claim: ClaimParts,
  passage: Passage,
  wordWeights: ReadonlyMap<string, number>,
  sentence: string,
): RatedSentence {
  const around = `${passage.context}\n${sentence}`
  const known = termsOf(around)
  const numbers = shareOfNumbers(claim.numbers, sentence)
  const names = shareOf(claim.names, known)
  const subjects = shareOf(claim.subjects, known)
  const sameNegation = claim.isNegated === isNegated(sentence)
  return {
    isQuote: isQuoted(claim.text, sentence),
    isComplete:
      claim.hasEnoughWords &&
      numbers === 1 &&
      names === 1 &&
      subjects >= subjects_min &&
      !claim.isDenied &&
      !claim.isPronoun &&
      !hasSibling(claim.text, sentence) &&
      recallOfWords(claim, known) >= contentRecall_min &&
      !hasNegation(sentence) &&
      !isOverstated(claim.text, sentence) &&
      (claim.hasQualifier || !hasQualifier(sentence)) &&
      hasSameOrder(claim.anchors, sentence),
    hasOtherNumber: numbers < 1 && hasOtherNumber(claim.numbers, sentence),
    sameNegation,
    text: sentence,
    names,
    subjects,
    recall: weighRecall(wordWeights, around),
    score:
      weighRecall(passage.weights, around) *
      (0.3 + 0.7 * shareOfNumbers(claim.numbers, sentence, isNear)),
  }
}

const pronoun =
  /^\W{0,4}(?:it|this|that|these|those|they|es|das|dies\w*|sie|cela|ceci|ça|ils?|elles?|esto|eso|ese|esta)(?!\p{L})/iu

/** Returns the share of a claim's words, without those of grammar and numbers, that are known. */
function recallOfWords({ content }: ClaimParts, known: ReadonlySet<string>): number {
  return shareOf(new Set([...content].filter((term) => !/^\d/.test(term))), known)
}

function termsOf(text: string): Set<string> {
  return new Set(tokenize(text).map(({ term }) => term))
}

function shareOf(wanted: ReadonlySet<string>, known: ReadonlySet<string>): number {
  if (wanted.size === 0) return 1
  return [...wanted].filter((term) => known.has(term)).length / wanted.size
}

function hasOtherNumber(wanted: readonly Quantity[], sentence: string): boolean {
  const known = readQuantities(sentence)
  const has = (number: Quantity) => known.some((other) => isNear(number, other))
  return wanted.some((number) => !has(number) && known.some((other) => isComparable(number, other)))
}

/**
 * Reports whether the names and numbers of a claim come in the same order in a sentence, so that
 * `A has 15 %, B has 25 %` does not support `A has 25 %, B has 15 %`.
 */
function hasSameOrder(anchors: readonly string[], sentence: string): boolean {
  const terms = tokenize(sentence).map(({ term }) => term)
  let last = -1
  for (const anchor of anchors) {
    const place = terms.indexOf(anchor, last + 1)
    if (place === -1 && terms.includes(anchor)) return false
    if (place !== -1) last = place
  }
  return true
}

/** Bullets and pictographs before the first word of a claim. */
const leadingMarks = /^(?:[\p{Extended_Pictographic}\s•▪–—*>-]|\uFE0F|\u200D)+(?=\p{L})/u

/**
 * Reports whether a sentence says a claim word for word, and the rest of the sentence neither
 * denies nor limits it: `bags are free` is no quote from `bags are free only for members`.
 */
function isQuoted(claim: string, sentence: string): boolean {
  const words = claim.replace(leadingMarks, '').replace(/[.!?\s]+$/u, '')
  const place = matchQuote(words, foldText(sentence))
  if (place === undefined) return false
  const rest = `${sentence.slice(0, place[0])} ${sentence.slice(place[1])}`
  return !isNegated(rest) && !hasQualifier(rest)
}
