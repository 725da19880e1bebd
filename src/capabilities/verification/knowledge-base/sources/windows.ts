import type { Range } from '../../../provenance/text/index.ts'
import { splitLinesAndSentences } from '../../../provenance/text/index.ts'
import { readQuantities } from '../../../provenance/values/index.ts'
import type { Chunk, SplitDocument } from '../../knowledge/chunks.ts'
import {
  byScore,
  type Passage,
  ratePassage,
  weighWindow,
  windowsAround,
} from '../../knowledge/library.ts'
import type { StoredChunk } from '../retrieval/store.ts'

/** Chunks that follow each other in a document, as a part of that document. */
export type DocumentPart = SplitDocument & { stored: readonly StoredChunk[] }

/** Chunks before and after a hit: a window of 3 sentences rarely reaches beyond them. */
export const chunksAround = 1

/** A passage of a stored document. */
export type DocumentPassage = Passage & { part: DocumentPart; sentences: Range }

const passages_max = 10

/** Joins chunks that follow each other. The chunks are sorted by document and position. */
export function joinChunks(chunks: readonly StoredChunk[]): DocumentPart[] {
  const runs: StoredChunk[][] = []
  for (const chunk of chunks) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const follows =
      last !== undefined &&
      last.document_id === chunk.document_id &&
      last.version === chunk.version &&
      last.position + 1 === chunk.position
    if (run !== undefined && follows) run.push(chunk)
    else runs.push([chunk])
  }
  return runs.map(toPart)
}

function toPart(stored: readonly StoredChunk[]): DocumentPart {
  const [first] = stored
  // All parts of a document are one source, so they do not compete.
  const id = `${first?.document_id} ${first?.version}`
  const sentences: Range[] = []
  const headers: string[] = []
  const chunks: SplitDocument['chunks'][number][] = []
  const pieces: SplitDocument['mapped']['pieces'][number][] = []
  let at = 0
  for (const chunk of stored) {
    const from = sentences.length
    const own = splitLinesAndSentences(chunk.text)
    sentences.push(...own.map(([start, end]): Range => [at + start, at + end]))
    headers.push(...own.map(() => chunk.context))
    chunks.push({
      id: String(chunk.id),
      text: chunk.text,
      context: chunk.context,
      digest: chunk.digest,
      at: [at, at + chunk.text.length],
      sentences: [from, sentences.length],
    })
    const taken = chunk.ends_at - chunk.starts_at
    pieces.push({ at, source: chunk.starts_at, length: chunk.text.length, taken })
    at += chunk.text.length + 1
  }
  const text = stored.map((chunk) => chunk.text).join('\n')
  return { id, title: '', mapped: { text, pieces }, sentences, headers, chunks, stored }
}

/** Chunks by id, each with its part. */
export type IndexedChunks = ReadonlyMap<number, { part: DocumentPart; chunk: Chunk }>

/** Indexes the chunks of parts by id. */
export function indexChunks(parts: readonly DocumentPart[]): IndexedChunks {
  const chunks = new Map<number, { part: DocumentPart; chunk: Chunk }>()
  for (const part of parts) {
    for (const [at, { id }] of part.stored.entries()) {
      const chunk = part.chunks[at]
      if (chunk !== undefined) chunks.set(id, { part, chunk })
    }
  }
  return chunks
}

/** Rates the windows around the chunks that a claim found, the best first. */
export function rateWindows(
  chunks: IndexedChunks,
  claim: { text: string; hits: ReadonlySet<number>; weights: ReadonlyMap<string, number> },
): DocumentPassage[] {
  const rated = { weights: claim.weights, numbers: readQuantities(claim.text) }
  const windows = windowsOf(chunks, claim.hits)
    .map((window) => ({
      ...window,
      recall: weighWindow(window.part, window.sentences, claim.weights),
    }))
    .sort((one, other) => other.recall - one.recall)
  const best: DocumentPassage[] = []
  for (const { part, sentences, recall } of windows) {
    // A score is never greater than the recall: the rest is not better than these.
    const last = best.length < passages_max ? undefined : best.at(-1)
    if (last !== undefined && recall < last.score) break
    best.push({ ...ratePassage(part, sentences, rated, recall), part, sentences })
    best.sort(byScore).splice(passages_max)
  }
  return best
}

/** Returns the windows around chunks, each once. */
function windowsOf(
  chunks: IndexedChunks,
  ids: ReadonlySet<number>,
): { part: DocumentPart; sentences: Range }[] {
  const starts = new Map<DocumentPart, Set<number>>()
  const windows: { part: DocumentPart; sentences: Range }[] = []
  for (const id of ids) {
    const found = chunks.get(id)
    if (found === undefined) continue
    const { part, chunk } = found
    const known = starts.get(part) ?? new Set()
    starts.set(part, known)
    for (const sentences of windowsAround(part, chunk)) {
      if (!known.has(sentences[0])) windows.push({ part, sentences })
      known.add(sentences[0])
    }
  }
  return windows
}
