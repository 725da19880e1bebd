import type { SplitDocument } from '../../knowledge/chunks.ts'
import { byScore, type Passage, ratePassage, windowsAround } from '../../knowledge/library.ts'
import type { Range } from '../../text/mapped-text.ts'
import { splitLinesAndSentences } from '../../text/sentences.ts'
import { readQuantities } from '../../values/quantities.ts'
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
  // All parts of a document are one source: they are no rivals of each other.
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
      ...{ id: String(chunk.id), text: chunk.text, context: chunk.context, digest: chunk.digest },
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

/** Rates the windows around the chunks that a claim found, the best first. */
export function rateWindows(
  parts: readonly DocumentPart[],
  claim: { text: string; hits: ReadonlySet<number>; weights: ReadonlyMap<string, number> },
): DocumentPassage[] {
  const numbers = readQuantities(claim.text)
  const passages: DocumentPassage[] = []
  for (const part of parts) {
    const windows = new Map<string, Range>()
    for (const [at, chunk] of part.chunks.entries()) {
      const { id = 0 } = part.stored[at] ?? {}
      if (!claim.hits.has(id)) continue
      for (const window of windowsAround(part, chunk)) windows.set(window.join(' '), window)
    }
    for (const sentences of windows.values()) {
      passages.push({ ...ratePassage(part, sentences, claim.weights, numbers), part, sentences })
    }
  }
  return passages.sort(byScore).slice(0, passages_max)
}
