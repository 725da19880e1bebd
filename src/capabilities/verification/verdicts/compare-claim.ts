import {
  foldedText,
  foldText,
  matchQuote,
  splitLinesAndSentences,
  type Token,
  tokenize,
} from '../../provenance/text/index.ts'
import { isComparable, type Quantity, readQuantities } from '../../provenance/values/index.ts'
import { isNear, type Passage, type Question } from '../knowledge/library.ts'
import { type AlikeWords, alikeOf, gravity, likeness } from './alike-words.ts'
import { isQuestion, readNames, readWording, type Wording } from './claim-words.ts'

/** A text, read once for all comparisons. */
export interface ReadText extends Wording {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly words: AlikeWords
  readonly numbers: readonly Quantity[]
  readonly names: ReadonlySet<string>
}

/** A claim and its question, read once. */
export interface ReadClaim extends ReadText {
  /** Words of the claim and its question. */
  readonly asked: AlikeWords
  /** Names of the question. */
  readonly subjects: ReadonlySet<string>
  /** Years of the question. */
  readonly years: ReadonlySet<string>
  /** Weight of each word, without words of grammar; rare words weigh more. */
  readonly weights: ReadonlyMap<string, number>
  /** Names and numbers in their order. */
  readonly anchors: readonly string[]
}

/** A sentence of a passage, compared with a claim. */
export interface ComparedSentence extends ReadText {
  readonly passage: Passage
  /** Words of the sentence, of the document's title and of the table's header. */
  readonly around: AlikeWords
  /** Share of the claim's words that it or a word of the same meaning has, by weight. */
  readonly recall: number
  /** Numbers of the claim that it has: also rounded, within a bound or in another unit. */
  readonly found: readonly Quantity[]
  /** Recall × (0.5 + 0.5 · share of the claim's numbers); the best sentence has the most. */
  readonly rank: number
  /** It has another number of the kind of a claim's number that it lacks. */
  readonly hasOtherNumber: boolean
  /** The other number as written; undefined without one. */
  readonly otherNumber: string | undefined
}

/** Weight of a word that no document has. */
const unknownWeight = 3

/** Reads a claim; `weights` are those of its passages. */
export function readClaim(claim: Question, weights: ReadonlyMap<string, number>): ReadClaim {
  const { text, context = '' } = claim
  const read = readText(text)
  const own = [...read.words.terms].filter((term) => gravity(term) > 0)
  return {
    ...read,
    asked: alikeOf([...read.words.terms, ...termsOf(context)]),
    subjects: readNames(context),
    years: new Set(context.match(/(?<!\d)(?:19|20)\d\d(?!\d)/g) ?? []),
    weights: new Map(
      own.map((term) => [term, gravity(term) * (weights.get(term) ?? unknownWeight)]),
    ),
    anchors: read.tokens
      .map(({ term }) => term)
      .filter((term) => read.names.has(term) || /^\d/.test(term)),
  }
}

/**
 * Compares a claim with each sentence of its passages once; the best sentence comes first.
 * Sentences that ask are left out.
 */
export function compareSentences(
  claim: ReadClaim,
  passages: readonly Passage[],
): ComparedSentence[] {
  const seen = new Set<string>()
  const compared: ComparedSentence[] = []
  for (const passage of passages) {
    for (const sentence of sentencesOf(passage)) {
      const key = `${passage.source}\n${sentence.text}`
      if (seen.has(key) || isQuestion(sentence.text)) continue
      seen.add(key)
      compared.push(compareSentence(claim, passage, sentence))
    }
  }
  return compared.sort((one, other) => other.rank - one.rank)
}

/** A sentence of a passage; `read` reads it once. */
type PassageSentence = { text: string; read: () => ReadSentence }
type ReadSentence = ReadText & Pick<ComparedSentence, 'around'>

/** Sentences live as long as their passages: several sources are compared with one claim. */
const sentences = new WeakMap<Passage, readonly PassageSentence[]>()

function sentencesOf(passage: Passage): readonly PassageSentence[] {
  const known = sentences.get(passage)
  if (known !== undefined) return known
  const context = termsOf(passage.context)
  const found = splitLinesAndSentences(passage.text).map(([start, end]): PassageSentence => {
    const text = passage.text.slice(start, end)
    let sentence: ReadSentence | undefined
    const read = () => {
      const own = readText(text)
      return { ...own, around: alikeOf([...own.words.terms, ...context]) }
    }
    return { text, read: () => (sentence ??= read()) }
  })
  sentences.set(passage, found)
  return found
}

function compareSentence(
  claim: ReadClaim,
  passage: Passage,
  sentence: PassageSentence,
): ComparedSentence {
  const read = sentence.read()
  const { around } = read
  const recall = weighLikeness(claim.weights, around)
  const has = (number: Quantity) => read.numbers.some((other) => isNear(number, other))
  const found = claim.numbers.filter(has)
  const share = claim.numbers.length === 0 ? 1 : found.length / claim.numbers.length
  const isOther = (number: Quantity) =>
    !has(number) && read.numbers.some((other) => isRival(number, other))
  const differing = claim.numbers.find(isOther)
  return {
    ...read,
    passage,
    recall,
    found,
    rank: recall * (0.5 + 0.5 * share),
    hasOtherNumber: differing !== undefined,
    otherNumber: differing === undefined ? undefined : writtenOf(read, differing),
  }
}

/** Returns the first number of a sentence that could replace a claim's, with its sign or unit. */
function writtenOf({ text, numbers }: ReadText, wanted: Quantity): string | undefined {
  const rival = numbers.find((other) => isRival(wanted, other))
  if (rival === undefined) return undefined
  const sign = /(?:[€$£¥₹]|(?<!\p{L})[A-Z]{3} ?)$/u.exec(text.slice(0, rival.start))?.[0] ?? ''
  return sign + text.slice(rival.start, rival.end)
}

/** Reports whether a number could replace another of the same kind. */
export function isRival(one: Quantity, other: Quantity): boolean {
  return isComparable(one, other) && one.kind === other.kind
}

function readText(text: string): ReadText {
  const tokens = tokenize(text)
  return {
    text,
    tokens,
    words: alikeOf(tokens.map(({ term }) => term)),
    numbers: readQuantities(text),
    names: readNames(text, tokens),
    ...readWording(text),
  }
}

function termsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => term)
}

/** Returns the share of weights whose words a set has, or words of the same meaning; 0–1. */
export function weighLikeness(weights: ReadonlyMap<string, number>, known: AlikeWords): number {
  let sum = 0
  let found = 0
  for (const [term, weight] of weights) {
    sum += weight
    found += weight * likeness(term, known)
  }
  return sum === 0 ? 1 : found / sum
}

/** Bullets and pictographs before the first word of a claim. */
const leadingMarks = /^(?:[\p{Extended_Pictographic}\s•▪–—*>-]|\uFE0F|\u200D)+(?=\p{L})/u

/**
 * Returns whether a sentence contains a claim word for word, and the rest of the sentence neither
 * denies nor limits it: `bags are free` is not a quote from `bags are free only for members`.
 */
export function isQuoted(claim: string, sentence: string): boolean {
  const words = claim.replace(leadingMarks, '').replace(/[.!?\s]+$/u, '')
  // Most sentences do not have the words, and offsets take longer.
  if (!foldedText(sentence).includes(foldedText(words).trim())) return false
  const place = matchQuote(words, foldText(sentence))
  if (place === undefined) return false
  const rest = `${sentence.slice(0, place[0])} ${sentence.slice(place[1])}`
  const { hasNegation, hasQualifier } = readWording(rest)
  return !hasNegation && !hasQualifier
}
