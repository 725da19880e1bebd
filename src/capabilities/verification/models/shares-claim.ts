import { type CheckedValue, checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import { grammarWords, tokenize } from '../../provenance/text/index.ts'
import { agrees, isComparable, readQuantities, readValues } from '../../provenance/values/index.ts'
import { readNames } from '../verdicts/claim-words.ts'

/** Share of a claim's words that a quote must have when the claim has no value and no name. */
const recall_min = 1 / 3

type Quoted = { claim: string; quote: string; passage: string }

/**
 * Returns whether a quote can support a claim: every value of the claim is in the quote or follows
 * from it, and the passage has a name of the claim. A claim without values requires a name in the
 * quote; without both, a third of its words. A model that supports every claim fails here.
 */
export function canSupport(quoted: Quoted): boolean {
  const { claim, quote, passage } = quoted
  const checked = checkAnswer(claim, indexSeen([{ source: 'quote', text: quote }]))
  if (checked.some(isNotFound)) return false
  if (hasOtherNumber(quoted, checked)) return false
  const names = readNames(claim)
  if (names.size > 0 && countNames(names, passage) === 0) return false
  if (checked.some(({ verdict }) => verdict === 'seen' || verdict === 'derived')) return true
  return names.size > 0 ? countNames(names, quote) > 0 : recallOf(claim, quote) >= recall_min
}

/** Reports whether a value is not in the quote, even if a calculation may give it. */
function isNotFound({ verdict, doubt }: CheckedValue): boolean {
  return verdict === 'unsupported' || verdict === 'other_subject' || doubt !== undefined
}

/**
 * Returns whether a quote can contradict a claim: it has a value or name of the claim, or a value
 * of the same kind with some of the claim's words, or a third of its words.
 */
export function canContradict({ claim, quote }: Quoted): boolean {
  const recall = recallOf(claim, quote)
  if (recall >= recall_min) return true
  if (countNames(readNames(claim), quote) > 0) return true
  const checked = checkAnswer(claim, indexSeen([{ source: 'quote', text: quote }]))
  if (checked.some(({ verdict }) => verdict === 'seen')) return true
  const kinds = new Set(readValues(quote).map(({ kind }) => kind))
  return recall > 0 && checked.some(({ kind }) => kinds.has(kind))
}

/**
 * Returns whether a quote has another number instead of one that an answer may use without a
 * source, such as a small integer.
 */
function hasOtherNumber({ claim, quote }: Quoted, checked: readonly CheckedValue[]): boolean {
  const exempt = checked.filter(({ verdict }) => verdict === 'exempt')
  const known = readQuantities(quote)
  return readQuantities(claim).some((number) => {
    if (!exempt.some(({ at }) => at[0] < number.end && number.start < at[1])) return false
    const others = known.filter((other) => isComparable(number, other))
    return others.length > 0 && others.every(({ value }) => !agrees(number, value))
  })
}

function countNames(names: ReadonlySet<string>, text: string): number {
  const known = termsOf(text)
  return [...names].filter((name) => known.has(name)).length
}

/** Returns the share of a claim's words that a text has, without numbers and grammar. */
function recallOf(claim: string, text: string): number {
  const wanted = [...termsOf(claim)].filter((term) => !grammarWords.has(term) && !/^\d/.test(term))
  const known = termsOf(text)
  if (wanted.length === 0) return 0
  return wanted.filter((term) => known.has(term)).length / wanted.length
}

function termsOf(text: string): Set<string> {
  return new Set(tokenize(text).map(({ term }) => term))
}
