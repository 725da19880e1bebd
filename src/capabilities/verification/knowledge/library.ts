import { grammarWords, type Range, termsOf, toSource } from '../../provenance/text/index.ts'
import {
  agrees,
  isComparable,
  type Quantity,
  readQuantities,
} from '../../provenance/values/index.ts'
import { type Chunk, maxChunkSentences, type SplitDocument } from './chunks.ts'
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
const maxClaimTerms = 200
/** Code units of a claim or question that are read. */
const maxClaimLength = 10_000

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
  const rated = { weights, numbers: readQuantities(claim.text.slice(0, maxClaimLength)) }
  const seen = new Set<string>()
  const passages: Passage[] = []
  for (const { chunk: id } of searchIndex(library.index, shares, undefined, candidates_max)) {
    const found = library.chunks.get(id)
    if (found === undefined) continue
    for (const window of windowsAround(found.document, found.chunk)) {
      const key = `${found.document.id} ${window.join(' ')}`
      if (seen.has(key)) continue
      seen.add(key)
      passages.push(ratePassage(found.document, window, rated))
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
    for (const term of countTerms(part.slice(0, maxClaimLength)).keys()) {
      if (shares.size >= maxClaimTerms || shares.has(term) || grammarWords.has(term)) continue
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
  const first = Math.max(0, from - maxChunkSentences + 1)
  const windows: Range[] = []
  for (let start = first; start < to; start++) {
    const end = Math.min(sentences.length, start + maxChunkSentences)
    if (end > from) windows.push([start, end])
  }
  return windows
}

/** The parts of a claim that windows are rated by: the weights of its terms, and its numbers. */
export type RatedClaim = {
  weights: ReadonlyMap<string, number>
  numbers: readonly Quantity[]
}

/** Rates a window of sentences for the terms and numbers of a claim. */
export function ratePassage(
  document: SplitDocument,
  window: Range,
  claim: RatedClaim,
  recall = weighWindow(document, window, claim.weights),
): Passage {
  const { weights, numbers } = claim
  const [from, to] = window
  const start = document.sentences[from]?.[0] ?? 0
  const end = document.sentences[to - 1]?.[1] ?? start
  const present = shareKnown(numbers, () => numbersOf(document, window))
  return {
    source: document.id,
    text: document.mapped.text.slice(start, end),
    context: contextOf(document, from),
    at: toSource(document.mapped, [start, end]),
    recall,
    numbers: present,
    score: recall * (0.3 + 0.7 * present),
    weights,
  }
}

/**
 * Returns the recall of a window of sentences, 0–1: the share of the weights whose terms it has.
 * Its score is never greater.
 */
export function weighWindow(
  document: SplitDocument,
  [from, to]: Range,
  weights: ReadonlyMap<string, number>,
): number {
  const read = readingOf(document)
  const parts = [read.context(contextOf(document, from))]
  for (let at = from; at < to; at += 1) parts.push(read.sentence(at).terms)
  return weighParts(weights, parts)
}

function contextOf({ title, headers }: SplitDocument, sentence: number): string {
  return `${title}\n${headers[sentence] ?? ''}`.trim()
}

function numbersOf(document: SplitDocument, [from, to]: Range): Quantity[] {
  const read = readingOf(document)
  return Array.from({ length: to - from }, (_, at) => read.sentence(from + at).numbers()).flat()
}

/** Terms of a sentence, and its numbers, which are read when they are first needed. */
type ReadSentence = { terms: ReadonlySet<string>; numbers: () => readonly Quantity[] }
/** Reads parts of a document, each once: windows overlap, and claims share them. */
type Reading = {
  sentence(at: number): ReadSentence
  context(text: string): ReadonlySet<string>
}

/** Cached by document, as long as the document is in memory. */
const readings = new WeakMap<SplitDocument, Reading>()

function readingOf(document: SplitDocument): Reading {
  const known = readings.get(document)
  if (known !== undefined) return known
  const sentences: ReadSentence[] = []
  const contexts = new Map<string, ReadonlySet<string>>()
  const reading: Reading = {
    sentence: (at) => (sentences[at] ??= readSentence(document, at)),
    context: (text) => {
      const terms = contexts.get(text) ?? new Set(termsOf(text))
      contexts.set(text, terms)
      return terms
    },
  }
  readings.set(document, reading)
  return reading
}

function readSentence({ mapped, sentences }: SplitDocument, at: number): ReadSentence {
  const text = mapped.text.slice(...(sentences[at] ?? [0, 0]))
  let numbers: readonly Quantity[] | undefined
  return { terms: new Set(termsOf(text)), numbers: () => (numbers ??= readQuantities(text)) }
}

/** Returns the share of the weights whose terms a text has; 0–1. */
export function weighRecall(weights: ReadonlyMap<string, number>, text: string): number {
  return weighParts(weights, [new Set(termsOf(text))])
}

function weighParts(
  weights: ReadonlyMap<string, number>,
  parts: readonly ReadonlySet<string>[],
): number {
  let sum = 0
  let found = 0
  for (const [term, weight] of weights) {
    sum += weight
    for (const terms of parts) {
      if (!terms.has(term)) continue
      found += weight
      break
    }
  }
  return sum === 0 ? 0 : found / sum
}

/** Returns the share of numbers that a text has in the same kind of unit; 1 without numbers. */
export function shareOfNumbers(numbers: readonly Quantity[], text: string): number {
  return shareKnown(numbers, () => readQuantities(text))
}

function shareKnown(numbers: readonly Quantity[], read: () => readonly Quantity[]): number {
  if (numbers.length === 0) return 1
  const known = read()
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
