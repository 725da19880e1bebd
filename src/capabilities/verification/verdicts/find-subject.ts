import { tokenize } from '../../provenance/text/index.ts'
import type { Passage } from '../knowledge/library.ts'
import { type AlikeWords, alikeOf, gravity, likeness } from './alike-words.ts'
import { type ComparedSentence, type ReadClaim, weighLikeness } from './compare-claim.ts'

/** How well the source of the best sentence fits the subject of a claim and its question. */
export interface SubjectFit {
  /** The title of another source fits better: it is the price list of this year. */
  readonly isOther: boolean
  /** A sentence of another source is nearly as close, and its title fits as well. */
  readonly hasRival: boolean
  /** Another source has a name of the question that this one lacks. */
  readonly isNamedElsewhere: boolean
  /** The source has no name of the question. */
  readonly isUnnamed: boolean
  /** The source lacks a year of the question. */
  readonly lacksYear: boolean
  /** The title says that the source no longer holds, and the question does not ask for that. */
  readonly isOutdated: boolean
}

/** Maximum difference of recall at which a sentence of another source competes. */
const rivalSlack = 0.15
/** The same maximum for a source with a better title. */
const otherSlack = 0.35
/** Weight of the words of a title that the question has. */
const titleShare = 0.3

const outdated =
  /(?<!\p{L})(?:superseded|outdated|archived?|withdrawn|draft|expired|obsolete|former|previous|proposal|proposed|planned|veraltet|entwurf|obsol[eè]te|brouillon|borrador)(?!\p{L})/iu

/** Compares the titles of sources with a claim and its question: they name the subject. */
export function fitSubject(
  claim: ReadClaim,
  best: ComparedSentence,
  compared: readonly ComparedSentence[],
): SubjectFit {
  const fits = new Map<string, number>()
  const fitOf = ({ passage }: ComparedSentence) => {
    const known = fits.get(passage.source)
    if (known !== undefined) return known
    const fit = fitTitle(claim.asked, passage)
    fits.set(passage.source, fit)
    return fit
  }
  const fit = fitOf(best)
  const isOwn = ({ passage }: ComparedSentence) => passage.source === best.passage.source
  const elsewhere = compared.filter((other) => !isOwn(other))
  const [own, others] = [termsAround(compared.filter(isOwn)), termsAround(elsewhere)]
  const isWithin = (other: ComparedSentence, slack: number) => other.recall >= best.recall - slack
  return {
    isOther: elsewhere.some((other) => isWithin(other, otherSlack) && fitOf(other) > fit + 0.001),
    hasRival: elsewhere.some((other) => isWithin(other, rivalSlack) && fitOf(other) >= fit - 0.001),
    isNamedElsewhere: [...claim.subjects].some((name) => !own.has(name) && others.has(name)),
    isUnnamed: claim.subjects.size > 0 && ![...claim.subjects].some((name) => own.has(name)),
    lacksYear: [...claim.years].some((year) => !own.has(year)),
    isOutdated:
      outdated.test(titleOf(best.passage)) && ![...claim.asked.terms].some((t) => outdated.test(t)),
  }
}

/** Returns the terms of sentences, of their titles and of the headers of their tables. */
function termsAround(sentences: readonly ComparedSentence[]): ReadonlySet<string> {
  return new Set(sentences.flatMap(({ around }) => [...around.terms]))
}

function fitTitle(asked: AlikeWords, passage: Passage): number {
  const terms = [...new Set(tokenize(titleOf(passage)).map(({ term }) => term))]
  const telling = terms.filter((term) => gravity(term) === 1 || /^\d/.test(term))
  // A source without a title fits half.
  if (telling.length === 0) return 0.5
  const shared = telling.filter((term) => likeness(term, asked) > 0).length / telling.length
  return weighLikeness(passage.weights, alikeOf(terms)) + titleShare * shared
}

/** Returns the title of a passage's document; the header of a table follows it. */
function titleOf({ context }: Passage): string {
  return context.split('\n', 1)[0] ?? ''
}
