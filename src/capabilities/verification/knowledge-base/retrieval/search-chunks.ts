import type { Question } from '../../knowledge/library.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import { planSearch, storedTermsOf } from './plan-search.ts'
import { countChunks, counted_max, type Hit, rankChunks, readIndexSize } from './store.ts'

/** Chunks that a question found, best first, and the weights of its terms. */
export type FoundChunks = {
  hits: readonly Hit[]
  weights: ReadonlyMap<string, number>
}

/** Questions that are searched for together. */
export const maxSearchedQuestions = 50

/** Searches the chunks of a project for several questions at once, at most 50. */
export async function searchChunks(
  db: KnowledgeDb,
  asked: { project_id: string; questions: readonly Question[]; limit: number },
): Promise<FoundChunks[]> {
  const { project_id, questions, limit } = asked
  const [{ chunks, averageLength }, frequencies] = await Promise.all([
    readIndexSize(db, project_id),
    countChunks(db, project_id, storedTermsOf(questions)),
  ])
  const plans = planSearch(questions, {
    frequencies: withUncounted(frequencies, chunks),
    chunks,
  })
  const terms = plans.map((plan) => plan.terms)
  const isEmpty = terms.every((own) => own.length === 0) || averageLength === 0
  const hits = isEmpty ? [] : await rankChunks(db, terms, { project_id, averageLength, limit })
  return plans.map(({ weights }, at) => ({ hits: hits[at] ?? [], weights }))
}

/** Estimates the terms that have more chunks than are counted: half of all chunks. */
function withUncounted(frequencies: ReadonlyMap<string, number>, chunks: number) {
  const estimate = (n: number) => (n < counted_max ? n : Math.max(n, Math.round(chunks / 2)))
  return new Map([...frequencies].map(([term, n]) => [term, estimate(n)]))
}
