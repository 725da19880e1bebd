import type { MappedText } from '../../../provenance/text/index.ts'
import type { StoredEvidence } from '../../contract.ts'
import type { Question } from '../../knowledge/library.ts'
import { candidates_max } from '../../knowledge/postings.ts'
import { readDocument } from '../../knowledge/read-document.ts'
import type { OrderHits } from '../embeddings/order-hits.ts'
import type { KnowledgeDb } from '../knowledge-base.ts'
import { maxSearchedQuestions, searchChunks } from '../retrieval/search-chunks.ts'
import { type StoredChunk, selectChunks, selectSource } from '../retrieval/store.ts'
import { cutText, findSentences, quoteRange } from './locate-quote.ts'
import {
  chunksAround,
  type DocumentPassage,
  indexChunks,
  joinChunks,
  rateWindows,
} from './windows.ts'

/** The documents of a project, for the claims of one run. */
export type DocumentLibrary = {
  find(question: Question, signal: AbortSignal): Promise<DocumentPassage[]>
  /** Returns the evidence of a passage, with its offsets in the content of the document. */
  cite(passage: DocumentPassage): Promise<StoredEvidence>
}

/** Maximum candidates that embeddings order. */
const ordered_max = 50
/** Sources that are read again for exact offsets; a passage of a larger one is its chunk. */
const source_bytes_max = 1024 * 1024
const sources_max = 20

/** Opens the documents of a project. Questions that are asked together share statements. */
export function openDocumentLibrary(
  db: KnowledgeDb,
  { project_id, orderHits }: { project_id: string; orderHits: OrderHits | undefined },
): DocumentLibrary {
  const limit = orderHits === undefined ? candidates_max : ordered_max
  const search = batchQuestions(async (questions, signal) => {
    const found = await searchChunks(db, { project_id, questions, limit })
    const ordered = orderHits === undefined ? found : await orderHits(questions, found, signal)
    const best = ordered.map(({ hits, weights }) => ({
      weights,
      hits: new Set(hits.slice(0, candidates_max).map(({ chunk_id }) => chunk_id)),
    }))
    const ids = [...new Set(best.flatMap(({ hits }) => [...hits]))]
    if (ids.length === 0) return questions.map(() => [])
    const stored = await selectChunks(db, { project_id, ids, around: chunksAround })
    const chunks = indexChunks(joinChunks(stored))
    return best.map((claim, at) =>
      rateWindows(chunks, { ...claim, text: questions[at]?.text ?? '' }),
    )
  })
  const sources = new Map<string, Promise<MappedText | undefined>>()
  const readSource = (chunk: StoredChunk) => {
    const { document_id, version, format } = chunk
    const key = `${document_id} ${version}`
    const known = sources.get(key)
    if (known !== undefined || sources.size >= sources_max) return known
    const asked = { project_id, document_id, version, bytes_max: source_bytes_max }
    const read = selectSource(db, asked).then((source) =>
      source === undefined ? undefined : readDocument(format, source),
    )
    sources.set(key, read)
    return read
  }
  return { find: search, cite: (passage) => citePassage(passage, readSource) }
}

async function citePassage(
  { part, sentences: [from, to], at }: DocumentPassage,
  readSource: (chunk: StoredChunk) => Promise<MappedText | undefined> | undefined,
): Promise<StoredEvidence> {
  const middle = part.chunks.findIndex(({ sentences }) => sentences[1] > from)
  const chunk = part.stored[middle]
  if (chunk === undefined) throw new Error('a passage of another part')
  const { document_id, version, name, document_digest: digest } = chunk
  const evidence = {
    kind: 'document' as const,
    source: name,
    digest,
    document: { document_id, version },
  }
  const mapped = await readSource(chunk)
  const texts = part.sentences.slice(from, to).map((range) => part.mapped.text.slice(...range))
  const range = mapped && findSentences(mapped, texts, at[0])
  if (mapped !== undefined && range !== undefined) {
    return { ...evidence, ...quoteRange(mapped, range) }
  }
  return { ...evidence, quote: cutText(chunk.text), at: [chunk.starts_at, chunk.ends_at] }
}

type FindAll<Found> = (questions: readonly Question[], signal: AbortSignal) => Promise<Found[]>

/** Collects the questions of one event loop iteration, and answers them together. */
function batchQuestions<Found>(
  findAll: FindAll<Found>,
): (question: Question, signal: AbortSignal) => Promise<Found> {
  type Waiting = { question: Question } & PromiseWithResolvers<Found>
  const waiting: Waiting[] = []
  const flush = async (signal: AbortSignal) => {
    const batch = waiting.splice(0, maxSearchedQuestions)
    if (waiting.length > 0) setImmediate(flush, signal)
    try {
      const found = await findAll(
        batch.map(({ question }) => question),
        signal,
      )
      for (const [at, { resolve, reject }] of batch.entries()) {
        const own = found[at]
        if (own === undefined) reject(new Error('a question has no answer'))
        else resolve(own)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  return (question, signal) => {
    if (waiting.length === 0) setImmediate(flush, signal)
    const own = { question, ...Promise.withResolvers<Found>() }
    waiting.push(own)
    return own.promise
  }
}
