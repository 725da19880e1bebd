import type { Chore } from '../../../jobs/index.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import type { Embedder } from './order-hits.ts'
import { insertVectors, selectUnembedded } from './store.ts'

/** Ports of the chore of embeddings. */
export type EmbedChunksDeps = {
  db: KnowledgeDb
  embedder: Embedder
  /** Books a cost in the budget of the project's day; resolves to false above the budget. */
  book(project_id: string, nano_dollars: bigint): Promise<boolean>
}

/** How often documents are searched for chunks without a vector. */
const embedEvery_ms = 10_000

/**
 * Computes vectors of new documents, on every worker. Concurrent workers may compute some twice.
 */
export function embeddingsChore(deps: EmbedChunksDeps): Chore {
  return {
    name: 'embeddings',
    every_ms: embedEvery_ms,
    run: async (signal) => {
      await embedChunks(deps, signal)
    },
  }
}

/** Maximum calls of a pass. */
const calls_max = 50

/**
 * Computes the missing vectors of chunks, in at most 50 calls. A project above its budget is
 * skipped, so that it does not delay the others. Returns the number of new vectors.
 */
export async function embedChunks(
  { db, embedder, book }: EmbedChunksDeps,
  signal: AbortSignal,
): Promise<number> {
  const { model, texts_max } = embedder
  const without: string[] = []
  let made = 0
  for (let call = 0; call < calls_max; call += 1) {
    signal.throwIfAborted()
    const chunks = await selectUnembedded(db, { model, limit: texts_max, without })
    const [first] = chunks
    if (first === undefined) return made
    const texts = chunks.map(({ text }) => text)
    if (!(await book(first.project_id, embedder.estimate(texts)))) {
      without.push(first.project_id)
      continue
    }
    const { vectors } = await embedder.embed(texts, signal)
    const rows = chunks.flatMap(({ id }, at) => {
      const vector = vectors[at]
      return vector === undefined ? [] : [{ chunk_id: id, vector }]
    })
    if (rows.length === 0) return made
    await insertVectors(db, model, rows)
    made += rows.length
  }
  return made
}
