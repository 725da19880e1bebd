import { createHash } from 'node:crypto'
import type { MappedText, Range } from '../../provenance/text/index.ts'
import { maxSentenceWords, splitLinesAndSentences } from '../../provenance/text/index.ts'

/** Sentences of a chunk, and of a window. */
export const maxChunkSentences = 3
/** Words of a chunk. */
const maxChunkWords = maxSentenceWords
/** Code units of a title or table header that are indexed with a chunk. */
const maxContextLength = 400

/** A passage that is found as a whole. */
export interface Chunk {
  readonly id: string
  /** Range in the plain text. */
  readonly at: Range
  readonly text: string
  /** Title of the document and header of the table, which give a row its meaning. */
  readonly context: string
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string
  /** First sentence of the document in this chunk, and the sentence after the last. */
  readonly sentences: Range
}

/** A document in its plain text, split once for chunks and windows. */
export interface SplitDocument {
  readonly id: string
  readonly title: string
  readonly mapped: MappedText
  readonly sentences: readonly Range[]
  /** Header of the table that a sentence is a row of, by sentence; empty for others. */
  readonly headers: readonly string[]
  readonly chunks: readonly Chunk[]
}

/** Splits a document into sentences and chunks of ≤ 3 sentences or ≤ 120 words. */
export function splitDocument(id: string, title: string, mapped: MappedText): SplitDocument {
  const sentences = splitLinesAndSentences(mapped.text)
  const headers = findHeaders(mapped.text, sentences)
  const document = { id, title: title.slice(0, maxContextLength), mapped, sentences, headers }
  const chunks: Chunk[] = []
  let from = 0
  while (from < sentences.length) {
    const to = endOfChunk(mapped.text, sentences, from)
    chunks.push(chunkFrom(document, [from, to], chunks.length))
    from = to
  }
  return { ...document, chunks }
}

function chunkFrom(
  document: Omit<SplitDocument, 'chunks'>,
  sentences: Range,
  position: number,
): Chunk {
  const [from, to] = sentences
  const start = document.sentences[from]?.[0] ?? 0
  const end = document.sentences[to - 1]?.[1] ?? start
  const text = document.mapped.text.slice(start, end)
  const context = `${document.title}\n${document.headers[from] ?? ''}`.trim()
  const digest = createHash('sha256').update(text).digest('hex')
  return { id: `${document.id}#${position}`, at: [start, end], text, context, digest, sentences }
}

/** Returns the end of a chunk; a chunk has one sentence at least. */
function endOfChunk(text: string, sentences: readonly Range[], from: number): number {
  let words = 0
  let to = from
  while (to < sentences.length && to - from < maxChunkSentences) {
    const [start, end] = sentences[to] ?? [0, 0]
    words += text.slice(start, end).split(/\s+/).length
    if (to > from && words > maxChunkWords) break
    to++
  }
  return to
}

/** Gives each row of a table the table's first row, and every other sentence none. */
function findHeaders(text: string, sentences: readonly Range[]): string[] {
  let header = ''
  return sentences.map(([start, end]) => {
    const line = text.slice(start, end)
    if (!line.includes(' | ')) header = ''
    else if (header === '') header = line.slice(0, maxContextLength)
    return header
  })
}
