import { tokenize } from '../../provenance/text/index.ts'

/** One row of the index: a term occurs `tf` times in a chunk. */
interface Posting {
  readonly term: string
  readonly chunk: string
  readonly tf: number
}

/** An inverted index of chunks. Each field maps to a table when it is stored. */
export interface Index {
  readonly postings: ReadonlyMap<string, readonly Posting[]>
  /** Terms of each chunk, by chunk. */
  readonly lengths: ReadonlyMap<string, number>
  readonly averageLength: number
}

export interface Bm25Options {
  /** BM25 k1: how fast further occurrences of a term saturate. */
  readonly k1: number
  /** BM25 b: how much the length of a chunk lowers its score, 0–1. */
  readonly b: number
}

export const defaultBm25: Bm25Options = { k1: 1.2, b: 0.75 }

/** Chunks of a search without a limit of its own. */
export const candidates_max = 20

/** Indexes texts by their terms. */
export function buildIndex(texts: Iterable<{ id: string; text: string }>): Index {
  const postings = new Map<string, Posting[]>()
  const lengths = new Map<string, number>()
  let total = 0
  for (const { id, text } of texts) {
    const counts = countTerms(text)
    let length = 0
    for (const [term, tf] of counts) {
      const rows = postings.get(term)
      if (rows === undefined) postings.set(term, [{ term, chunk: id, tf }])
      else rows.push({ term, chunk: id, tf })
      length += tf
    }
    lengths.set(id, length)
    total += length
  }
  return { postings, lengths, averageLength: lengths.size === 0 ? 0 : total / lengths.size }
}

/** Counts the terms of a text. */
export function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { term } of tokenize(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** Returns the weight of a term that occurs in `chunks` of `total` chunks; never negative. */
export function inverseFrequency(chunks: number, total: number): number {
  return Math.log(1 + (total - chunks + 0.5) / (chunks + 0.5))
}

/**
 * Ranks chunks by BM25 (Robertson and Zaragoza 2009, with the never negative idf of Lucene), best
 * first, equal ones by id. Query terms have weights; each term is counted once.
 */
export function searchIndex(
  index: Index,
  query: ReadonlyMap<string, number>,
  { k1, b }: Bm25Options = defaultBm25,
  limit = candidates_max,
): { chunk: string; score: number }[] {
  const scores = new Map<string, number>()
  for (const term of [...query.keys()].sort()) {
    const rows = index.postings.get(term) ?? []
    const idf = inverseFrequency(rows.length, index.lengths.size) * (query.get(term) ?? 0)
    for (const { chunk, tf } of rows) {
      const relative = (index.lengths.get(chunk) ?? 0) / index.averageLength
      const gain = (idf * tf * (k1 + 1)) / (tf + k1 * (1 - b + b * relative))
      scores.set(chunk, (scores.get(chunk) ?? 0) + gain)
    }
  }
  return [...scores]
    .map(([chunk, score]) => ({ chunk, score }))
    .sort((one, other) => other.score - one.score || (one.chunk < other.chunk ? -1 : 1))
    .slice(0, limit)
}
