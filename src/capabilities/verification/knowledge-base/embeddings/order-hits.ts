import { hash } from 'node:crypto'
import { z } from 'zod'
import type { PaidCalls } from '../../contract.ts'
import type { Question } from '../../knowledge/library.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import type { FoundChunks } from '../retrieval/search-chunks.ts'
import { selectVectors } from './store.ts'

/** A model that makes vectors of texts. */
export type Embedder = {
  /** Name of the model; vectors of different models are not compared. */
  model: string
  /** Maximum texts of a call. */
  texts_max: number
  /** Returns the most that the texts cost, in billionths of a dollar. */
  estimate(texts: readonly string[]): bigint
  embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ vectors: number[][]; input_tokens: number | null; nano_dollars: bigint }>
}

/** Reorders the chunks that questions found. */
export type OrderHits = (
  questions: readonly Question[],
  found: readonly FoundChunks[],
  signal: AbortSignal,
) => Promise<readonly FoundChunks[]>

const vectorsSchema = z.array(z.array(z.number()))

/**
 * Orders chunks by the cosine similarity to the question. A chunk without a vector keeps
 * its position. If the model fails or costs too much, all chunks do.
 */
export function createOrderHits(
  db: KnowledgeDb,
  { embedder, paid }: { embedder: Embedder; paid: PaidCalls },
): OrderHits {
  const { model } = embedder
  const embed = async (texts: readonly string[], signal: AbortSignal) => {
    const call = {
      key: `embed ${hash('sha256', JSON.stringify(texts))}`,
      verifier: 'kb' as const,
      model,
      nano_dollars_max: embedder.estimate(texts),
      send: async (sending: AbortSignal) => {
        const { vectors, input_tokens, nano_dollars } = await embedder.embed(texts, sending)
        return { reply: { vectors }, input_tokens, output_tokens: null, nano_dollars }
      },
    }
    const answer = await paid(call, signal)
    if (answer.outcome !== 'answered') return []
    return vectorsSchema.safeParse(answer.reply['vectors']).data ?? []
  }
  return async (questions, found, signal) => {
    const ids = [...new Set(found.flatMap(({ hits }) => hits.map(({ chunk_id }) => chunk_id)))]
    const stored = await selectVectors(db, { ids, model })
    if (stored.size === 0) return found
    const asked: number[][] = []
    for (let from = 0; from < questions.length; from += embedder.texts_max) {
      const part = questions.slice(from, from + embedder.texts_max)
      asked.push(
        ...(await embed(
          part.map(({ text }) => text),
          signal,
        )),
      )
    }
    if (asked.length !== questions.length) return found
    return found.map((each, at) => ({ ...each, hits: sortByCosine(each.hits, stored, asked[at]) }))
  }
}

/** Sorts the hits that have a vector; the others keep their positions. */
function sortByCosine<Hit extends { chunk_id: number }>(
  hits: readonly Hit[],
  vectors: ReadonlyMap<number, readonly number[]>,
  question: readonly number[] | undefined,
): Hit[] {
  if (question === undefined) return [...hits]
  const near = new Map<Hit, number>()
  for (const hit of hits) {
    const vector = vectors.get(hit.chunk_id)
    if (vector?.length === question.length) near.set(hit, cosine(vector, question))
  }
  const sorted = [...near.keys()].sort((one, two) => (near.get(two) ?? 0) - (near.get(one) ?? 0))
  return hits.map((hit) => (near.has(hit) ? (sorted.shift() ?? hit) : hit))
}

function cosine(one: readonly number[], other: readonly number[]): number {
  let [product, square, otherSquare] = [0, 0, 0]
  for (const [at, value] of one.entries()) {
    const second = other[at] ?? 0
    product += value * second
    square += value * value
    otherSquare += second * second
  }
  const length = Math.sqrt(square * otherSquare)
  return length > 0 ? product / length : 0
}
