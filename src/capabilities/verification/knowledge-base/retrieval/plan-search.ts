import { type Question, shareTerms } from '../../knowledge/library.ts'
import { inverseFrequency } from '../../knowledge/postings.ts'
import { toStoredTerm } from '../documents/index-text.ts'

/** A term of a question with its weight. */
export type PlannedTerm = {
  /** Term as it is stored. */
  term: string
  weight: number
  /** Whether its postings find candidates; other terms only add to the score of candidates. */
  finds: boolean
}

/** A question to search for. */
export type SearchPlan = {
  terms: readonly PlannedTerm[]
  /** Weight of each term, for windows. */
  weights: ReadonlyMap<string, number>
}

/**
 * Postings that are read to find candidates of a question. Words that occur in thousands of chunks
 * say little, so beyond this number only rarer terms find candidates. With 3,000, each of 30 claims
 * over 10,000 chunks takes the store about 8 ms of processor time
 * (`bench/verification/knowledge.ts`).
 */
const postings_max = 3_000

/** Returns the terms of questions as they are stored. */
export function storedTermsOf(questions: readonly Question[]): string[] {
  const terms = questions.flatMap((question) => [...shareTerms(question).keys()])
  return [...new Set(terms.map(toStoredTerm))]
}

/** Weighs the terms of questions by the number of chunks with each term. */
export function planSearch(
  questions: readonly Question[],
  { frequencies, chunks }: { frequencies: ReadonlyMap<string, number>; chunks: number },
  read_max = postings_max,
): SearchPlan[] {
  return questions.map((question) => {
    const weights = new Map(
      [...shareTerms(question)].map(([term, share]) => {
        const frequency = frequencies.get(toStoredTerm(term)) ?? 0
        return [term, share * inverseFrequency(frequency, chunks)]
      }),
    )
    return { terms: chooseFinders(weights, frequencies, read_max), weights }
  })
}

/** Chooses the terms that find candidates: from the rarest on, up to a number of postings. */
function chooseFinders(
  weights: ReadonlyMap<string, number>,
  frequencies: ReadonlyMap<string, number>,
  read_max: number,
): PlannedTerm[] {
  const known = mergeStored(weights)
    .map(([term, weight]) => ({ term, weight, frequency: frequencies.get(term) ?? 0 }))
    .filter(({ frequency }) => frequency > 0)
    .toSorted((one, other) => one.frequency - other.frequency || (one.term < other.term ? -1 : 1))
  let read = 0
  return known.map(({ term, weight, frequency }, at) => {
    read += frequency
    return { term, weight, finds: at === 0 || read <= read_max }
  })
}

/** Keeps one weight of terms that are equal as they are stored, such as numbers of many digits. */
function mergeStored(weights: ReadonlyMap<string, number>): [string, number][] {
  const stored = new Map<string, number>()
  for (const [term, weight] of weights) {
    const key = toStoredTerm(term)
    stored.set(key, Math.max(weight, stored.get(key) ?? 0))
  }
  return [...stored]
}
