import { type Range, toSource } from '../text/mapped-text.ts'
import { grammarWords, tokenize } from '../text/tokens.ts'
import { agrees, isComparable, type Quantity, readQuantities } from '../values/quantities.ts'
import { type Chunk, chunkSentences_max, type SplitDocument } from './chunks.ts'
import {
  buildIndex,
  candidates_max,
  countTerms,
  type Index,
  inverseFrequency,
  searchIndex,
} from './postings.ts'

/** Documents that claims are checked against, with their index. */
export interface Library {
  readonly documents: ReadonlyMap<string, SplitDocument>
  readonly chunks: ReadonlyMap<string, { chunk: Chunk; document: SplitDocument }>
  readonly index: Index
}

/** Three sentences of a document, ranked for a claim. */
export interface Passage {
  readonly source: string
  readonly text: string
  /** Title of the document and header of the table. */
  readonly context: string
  /** Range in the document's source. */
  readonly at: Range
  /** Share of the claim's terms, weighted by idf, that the passage has; 0–1. */
  readonly recall: number
  /** Share of the claim's numbers that the passage has; 1 without numbers. */
  readonly numbers: number
  /** recall × (0.3 + 0.7 · numbers). */
  readonly score: number
  /** Weight of each term of the claim and its question. */
  readonly weights: ReadonlyMap<string, number>
}

export interface Question {
  readonly text: string
  /** The question that the claim answers; it names subjects that the claim leaves out. */
  readonly context?: string | undefined
}

/** Passages of an answer. */
const passages_max = 10
/** Weight of a term that only the question has, as a share of a claim's term. */
const contextWeight = 0.3
/** Terms of a claim that are looked up; the rest of a longer claim is ignored. */
const claimTerms_max = 200
/** Code units of a claim or question that are read. */
const claimLength_max = 10_000

/** Indexes documents for `findPassages`. */
export function buildLibrary(documents: Iterable<SplitDocument>): Library {
  const list = [...documents]
  const chunks = new Map(
    list.flatMap((document) =>
      document.chunks.map((chunk) => [chunk.id, { chunk, document }] as const),
    ),
  )
  const texts = [...chunks].map(([id, { chunk }]) => ({
    id,
    text: `${chunk.context}\n${chunk.text}`,
  }))
  const byId = new Map(list.map((document) => [document.id, document]))
  return { documents: byId, chunks, index: buildIndex(texts) }
}

/** Finds the passages closest to a claim: BM25 over chunks, then windows of 3 sentences. */
export function findPassages(library: Library, claim: Question, limit = passages_max): Passage[] {
  const shares = shareTerms(claim)
  const weights = weighTerms(library.index, shares)
  const numbers = readQuantities(claim.text.slice(0, claimLength_max))
  const seen = new Set<string>()
  const passages: Passage[] = []
  for (const { chunk: id } of searchIndex(library.index, shares, undefined, candidates_max)) {
    const found = library.chunks.get(id)
    if (found === undefined) continue
    for (const window of windowsAround(found.document, found.chunk)) {
      const key = `${found.document.id} ${window.join(' ')}`
      if (seen.has(key)) continue
      seen.add(key)
      passages.push(ratePassage(found.document, window, weights, numbers))
    }
  }
  return passages.sort(byScore).slice(0, limit)
}

/** Compares passages: better ones first, equal ones by source and offset. */
export function byScore(one: Passage, other: Passage): number {
  if (one.score !== other.score) return other.score - one.score
  if (one.source !== other.source) return one.source < other.source ? -1 : 1
  return one.at[0] - other.at[0]
}

/**
 * Returns the share of each term: 1 in the claim, less if only the question has it. Words of
 * grammar have no share.
 */
export function shareTerms({ text, context = '' }: Question): Map<string, number> {
  const shares = new Map<string, number>()
  for (const [share, part] of [[1, text] as const, [contextWeight, context] as const]) {
    for (const term of countTerms(part.slice(0, claimLength_max)).keys()) {
      if (shares.size >= claimTerms_max || shares.has(term) || grammarWords.has(term)) continue
      shares.set(term, share)
    }
  }
  return shares
}

/** Weighs the terms of a claim by their rarity. */
function weighTerms(index: Index, shares: ReadonlyMap<string, number>): Map<string, number> {
  const total = index.lengths.size
  return new Map(
    [...shares].map(([term, share]) => [
      term,
      share * inverseFrequency(index.postings.get(term)?.length ?? 0, total),
    ]),
  )
}

/** Returns the windows of 3 sentences that share a sentence with a chunk. */
export function windowsAround({ sentences }: SplitDocument, chunk: Chunk): Range[] {
  const [from, to] = chunk.sentences
  const first = Math.max(0, from - chunkSentences_max + 1)
  const windows: Range[] = []
  for (let start = first; start < to; start++) {
    const end = Math.min(sentences.length, start + chunkSentences_max)
    if (end > from) windows.push([start, end])
  }
  return windows
}

/** Rates a window of sentences for the terms and numbers of a claim. */
export function ratePassage(
  document: SplitDocument,
  [from, to]: Range,
  weights: ReadonlyMap<string, number>,
  numbers: readonly Quantity[],
): Passage {
  const start = document.sentences[from]?.[0] ?? 0
  const end = document.sentences[to - 1]?.[1] ?? start
  const text = document.mapped.text.slice(start, end)
  const context = `${document.title}\n${document.headers[from] ?? ''}`.trim()
  const read = readingOf(document)
  const sentences = Array.from({ length: to - from }, (_, at) => read.sentence(from + at))
  const terms = [read.context(context), ...sentences].map((part) => part.terms)
  const recall = weighParts(weights, terms)
  const present = shareKnown(
    numbers,
    sentences.flatMap((sentence) => sentence.numbers),
  )
  return {
    source: document.id,
    text,
    context,
    at: toSource(document.mapped, [start, end]),
    recall,
    numbers: present,
    score: recall * (0.3 + 0.7 * present),
    weights,
  }
}

/** Terms and numbers of a text. */
type ReadPart = { terms: ReadonlySet<string>; numbers: readonly Quantity[] }
/** Reads parts of a document, each once: windows overlap, and claims share them. */
type Reading = { sentence(at: number): ReadPart; context(text: string): ReadPart }

/** Cached by document, as long as the document is in memory. */
const readings = new WeakMap<SplitDocument, Reading>()

function readingOf(document: SplitDocument): Reading {
  const known = readings.get(document)
  if (known !== undefined) return known
  const parts = new Map<string | number, ReadPart>()
  const remember = (key: string | number, read: () => ReadPart) => {
    const part = parts.get(key) ?? read()
    parts.set(key, part)
    return part
  }
  const reading: Reading = {
    sentence: (at) =>
      remember(at, () => {
        const text = document.mapped.text.slice(...(document.sentences[at] ?? [0, 0]))
        return { terms: termsOf(text), numbers: readQuantities(text) }
      }),
    context: (text) => remember(text, () => ({ terms: termsOf(text), numbers: [] })),
  }
  readings.set(document, reading)
  return reading
}

function termsOf(text: string): ReadonlySet<string> {
  return new Set(tokenize(text).map(({ term }) => term))
}

/** Returns the share of the weights whose terms a text has; 0–1. */
export function weighRecall(weights: ReadonlyMap<string, number>, text: string): number {
  return weighParts(weights, [termsOf(text)])
}

function weighParts(
  weights: ReadonlyMap<string, number>,
  parts: readonly ReadonlySet<string>[],
): number {
  let sum = 0
  let found = 0
  for (const [term, weight] of weights) {
    sum += weight
    if (parts.some((terms) => terms.has(term))) found += weight
  }
  return sum === 0 ? 0 : found / sum
}

/** Returns the share of numbers that a text has in the same kind of unit; 1 without numbers. */
export function shareOfNumbers(numbers: readonly Quantity[], text: string): number {
  return numbers.length === 0 ? 1 : shareKnown(numbers, readQuantities(text))
}

function shareKnown(numbers: readonly Quantity[], known: readonly Quantity[]): number {
  if (numbers.length === 0) return 1
  const found = numbers.filter((number) => known.some((other) => isSame(number, other)))
  return found.length / numbers.length
}

function isSame(one: Quantity, other: Quantity): boolean {
  return isComparable(one, other) && Math.abs(one.value - other.value) <= Math.abs(one.value) * 1e-9
}

/** Largest factor between a bound and a number that can support it. */
const bound_factor = 1.5

/** Reports whether a claim's number agrees with a known one: rounded, in another unit, a bound. */
export function isNear(stated: Quantity, known: Quantity): boolean {
  if (!isComparable(stated, known) || !agrees(stated, known.value)) return false
  const factor = known.value / stated.value
  return (factor <= bound_factor && factor >= 1 / bound_factor) || stated.value === known.value
}
