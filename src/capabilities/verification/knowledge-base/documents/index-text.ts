import { grammarWords, toSource } from '../../../provenance/text/index.ts'
import { maxChunkSentences, splitDocument } from '../../knowledge/chunks.ts'
import { countTerms } from '../../knowledge/postings.ts'
import { type DocumentFormat, readDocument } from '../../knowledge/read-document.ts'

/** A document to split into chunks with their terms. */
export type TextToIndex = {
  format: DocumentFormat
  title: string
  content: string
  /** Maximum chunks; a longer document is only counted. */
  chunks_max: number
}

/** A document as rows for the store. */
export type IndexedText = {
  chunks: number
  /** Sum of the lengths of the chunks, in terms. */
  terms: number
  /** JSON lists of `IndexedChunk`, each for one statement; empty above `chunks_max`. */
  batches: readonly string[]
}

/** A chunk as the store reads it from JSON. */
type IndexedChunk = {
  position: number
  text: string
  context: string
  starts_at: number
  ends_at: number
  digest: string
  /** Number of terms with repetitions, the length of BM25. */
  terms: number
  /** Occurrences by term, without words of grammar, which no search uses. */
  words: Readonly<Record<string, number>>
}

/** Chunks of a statement: about 2 MB of JSON. */
const maxBatchChunks = 1_000
/** Code units of a stored term. PostgreSQL indexes at most 2.7 kB; a number has no limit. */
const maxTermLength = 64

/** Splits a document into chunks, and counts their terms. */
export function indexText({ format, title, content, chunks_max }: TextToIndex): IndexedText {
  const { text, pieces } = readDocument(format, content)
  // Escapes of JSON can spell U+0000 and halves of surrogate pairs. The length stays the same.
  const mapped = { text: storable(text), pieces }
  const lines = countLines(mapped.text)
  const tooMany = Math.ceil(lines / maxChunkSentences)
  // Each line is at least one sentence, so a document with too many lines exceeds the limit.
  if (tooMany > chunks_max) return { chunks: tooMany, terms: 0, batches: [] }
  const { chunks } = splitDocument('', title, mapped)
  if (chunks.length > chunks_max) return { chunks: chunks.length, terms: 0, batches: [] }
  const batches: string[] = []
  let terms = 0
  for (let from = 0; from < chunks.length; from += maxBatchChunks) {
    const rows = chunks.slice(from, from + maxBatchChunks).map((chunk, at): IndexedChunk => {
      const [starts_at, ends_at] = toSource(mapped, chunk.at)
      const counts = countTerms(`${chunk.context}\n${chunk.text}`)
      const length = [...counts.values()].reduce((sum, tf) => sum + tf, 0)
      terms += length
      return {
        position: from + at,
        text: storable(chunk.text),
        context: storable(chunk.context),
        starts_at,
        ends_at,
        digest: chunk.digest,
        terms: length,
        words: Object.fromEntries(toPostings(counts)),
      }
    })
    batches.push(JSON.stringify(rows))
  }
  return { chunks: chunks.length, terms, batches }
}

/** Counts the lines that are not empty. */
function countLines(text: string): number {
  let lines = 0
  for (let at = 0; at < text.length; at++) {
    const next = text.charCodeAt(at + 1)
    if (text.charCodeAt(at) > 32 && !(next > 13 || next === 9)) lines += 1
  }
  return lines
}

/** Replaces what PostgreSQL cannot store: U+0000, and halves of surrogate pairs. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}

function toPostings(counts: ReadonlyMap<string, number>): Map<string, number> {
  const postings = new Map<string, number>()
  for (const [term, tf] of counts) {
    if (grammarWords.has(term)) continue
    const stored = toStoredTerm(term)
    postings.set(stored, (postings.get(stored) ?? 0) + tf)
  }
  return postings
}

/** Returns a term in the form in which postings are stored and searched. */
export function toStoredTerm(term: string): string {
  return term.slice(0, maxTermLength).toWellFormed()
}
