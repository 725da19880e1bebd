import { runInProject } from '../../../../platform/tenancy/index.ts'
import type { Chore } from '../../../jobs/index.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import type { Embedder } from './order-hits.ts'
import { insertVectors, selectUnembedded, type UnembeddedChunk } from './store.ts'

/** Ports of the chore of embeddings. */
export type EmbedChunksDeps = {
  db: KnowledgeDb
  embedder: Embedder
  /** Books a cost in the budget of the project's day; resolves to false above the budget. */
  book(project_id: string, nano_dollars: bigint): Promise<boolean>
}

/** How often documents are searched for chunks without a vector. */
const embedEveryMs = 10_000

/**
 * Computes vectors of new documents, on every worker. Concurrent workers may compute some twice.
 */
export function embeddingsChore(deps: EmbedChunksDeps): Chore {
  return {
    name: 'embeddings',
    every_ms: embedEveryMs,
    reason: 'the oldest chunk without a vector may be of any project',
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
    const { project_id } = first
    const added = await runInProject(project_id, () =>
      embedSome({ db, embedder, book }, { project_id, chunks, signal }),
    )
    if (added === 'above_budget') without.push(project_id)
    else if (added === 0) return made
    else made += added
  }
  return made
}

/** Makes the vectors of chunks of one project. Returns their number. */
async function embedSome(
  { db, embedder, book }: EmbedChunksDeps,
  given: { project_id: string; chunks: readonly UnembeddedChunk[]; signal: AbortSignal },
): Promise<number | 'above_budget'> {
  const { project_id, chunks, signal } = given
  const texts = chunks.map(({ text }) => text)
  if (!(await book(project_id, embedder.estimate(texts)))) return 'above_budget'
  const { vectors } = await embedder.embed(texts, signal)
  const rows = chunks.flatMap(({ id }, at) => {
    const vector = vectors[at]
    return vector === undefined ? [] : [{ chunk_id: id, vector }]
  })
  if (rows.length > 0) await insertVectors(db, embedder.model, rows)
  return rows.length
}
