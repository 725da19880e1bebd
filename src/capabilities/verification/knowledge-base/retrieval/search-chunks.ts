import type { Question } from '../../knowledge/library.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import { planSearch, storedTermsOf } from './plan-search.ts'
import { countChunks, type Hit, rankChunks, readIndexSize } from './store.ts'

/** Chunks that a question found, best first, and the weights of its terms. */
export type FoundChunks = {
  hits: readonly Omit<Hit, 'question'>[]
  weights: ReadonlyMap<string, number>
}

/** Questions that are searched for in one statement. */
export const searchedQuestions_max = 50

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
  const { terms, weights } = planSearch(questions, { frequencies, chunks })
  const hits =
    terms.length === 0 || averageLength === 0
      ? []
      : await rankChunks(db, terms, { project_id, averageLength, limit })
  const byQuestion = Map.groupBy(hits, ({ question }) => question)
  return weights.map((weighed, question) => ({
    hits: byQuestion.get(question) ?? [],
    weights: weighed,
  }))
}
