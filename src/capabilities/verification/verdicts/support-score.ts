import { checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import type { Quantity } from '../../provenance/values/index.ts'
import { isNear } from '../knowledge/library.ts'
import { alikeOf, gravity, likeness } from './alike-words.ts'
import { type ComparedSentence, isRival, type ReadClaim, weighLikeness } from './compare-claim.ts'
import type { Clash } from './find-clashes.ts'
import { supportIntercept, supportWeights } from './support-weights.ts'

/** Signs for and against the support of a claim by a sentence. */
export interface SupportSigns {
  /** Share of the words of the claim that the sentence has, by weight. */
  readonly recall: number
  /** Share of the words of the sentence that the claim or its question has. */
  readonly usedWords: number
  /** How much more of the claim is near its numbers than near other numbers of their kind. */
  readonly nearNumbers: number
  /** Share of the values of the claim that the source neither has nor lets derive. */
  readonly openValues: number
  /** 1 if the claim and the sentence both deny something. */
  readonly bothDeny: number
  /** 1 if the source lacks a name of the claim. */
  readonly missingName: number
  /** 1 if the sentence is limited, and the claim is not. */
  readonly limited: number
  /** Number of clashes: opposites, bounds, counted things, ordinals, words such as `all`. */
  readonly clashes: number
  /** 1 if names and numbers come in another order. */
  readonly otherOrder: number
  /** 1 if another source is nearly as close. */
  readonly rival: number
}

/** Words around a number that are compared with a claim. */
const maxNearWords = 9

/** Returns the probability that a sentence supports a claim, 0–1. */
export function scoreSupport(signs: SupportSigns): number {
  const entries = Object.entries(supportWeights) as [keyof SupportSigns, number][]
  const sum = entries.reduce(
    (total, [sign, weight]) => total + weight * signs[sign],
    supportIntercept,
  )
  return 1 / (1 + Math.exp(-sum))
}

/** Reads the signs of the best sentence and of the other sentences of its source. */
export function readSigns(
  claim: ReadClaim,
  best: ComparedSentence,
  source: readonly ComparedSentence[],
  { clashes, hasRival }: { clashes: readonly Clash[]; hasRival: boolean },
): SupportSigns {
  const own = [...best.words.terms].filter((term) => gravity(term) === 1)
  const used = own.filter((term) => likeness(term, claim.asked) > 0).length
  const known = source.flatMap(({ numbers }) => numbers)
  const shared = claim.numbers.filter((number) => known.some((other) => isNear(number, other)))
  const lacks = (name: string) => !source.some(({ around }) => around.terms.has(name))
  const has = (...some: Clash[]) => some.filter((clash) => clashes.includes(clash)).length
  return {
    recall: best.recall,
    usedWords: own.length === 0 ? 1 : used / own.length,
    nearNumbers: weighNearNumbers(claim, source),
    // Most claims need no calculation: their numbers are all in the source.
    openValues: shared.length < claim.numbers.length ? shareOpenValues(claim, source) : 0,
    bothDeny: claim.hasNegation && best.hasNegation ? 1 : 0,
    missingName: [...claim.names].some(lacks) ? 1 : 0,
    limited: has('qualifier'),
    clashes: has('opposite', 'bound', 'counted', 'ordinal', 'overstated', 'generalised'),
    otherOrder: has('order'),
    rival: hasRival ? 1 : 0,
  }
}

/** Returns the share of a claim's values that the sentences of a source do not explain. */
function shareOpenValues(claim: ReadClaim, source: readonly ComparedSentence[]): number {
  const title = source[0]?.passage.context ?? ''
  const text = `${source.map((sentence) => sentence.text).join('\n')}\n${title}`
  const values = checkAnswer(claim.text, indexSeen([{ source: 'source', text }]))
  const open = values.filter(({ verdict }) => !/^(?:seen|derived|exempt)$/.test(verdict))
  return values.length === 0 ? 0 : open.length / values.length
}

/** Returns the least lead of a claim's numbers over others of their kind; 0 if one is missing. */
function weighNearNumbers(claim: ReadClaim, source: readonly ComparedSentence[]): number {
  const leads = claim.numbers.map((number) => {
    const all = source.flatMap((sentence) =>
      sentence.numbers.map((other) => ({ other, score: () => weighNear(claim, sentence, other) })),
    )
    const own = all.filter(({ other }) => isNear(number, other)).map(({ score }) => score())
    if (own.length === 0) return undefined
    const rivals = all.filter(({ other }) => !isNear(number, other) && isRival(number, other))
    return Math.max(...own) - Math.max(0, ...rivals.map(({ score }) => score()))
  })
  const found = leads.filter((lead) => lead !== undefined)
  return leads.length === 0 || found.length < leads.length ? 0 : Math.min(...found)
}

/** Returns how much of a claim is in the words around a number and in its sentence, half each. */
function weighNear(claim: ReadClaim, { tokens, recall }: ComparedSentence, at: Quantity): number {
  const place = tokens.findIndex(({ start }) => start >= at.start)
  const near = tokens.slice(Math.max(0, place - maxNearWords), place + maxNearWords)
  return (weighLikeness(claim.weights, alikeOf(near.map(({ term }) => term))) + recall) / 2
}
