import { join } from 'node:path'
import {
  type SplitDocument,
  splitDocument,
} from '../../src/capabilities/verification/knowledge/chunks.ts'
import {
  buildLibrary,
  type Library,
} from '../../src/capabilities/verification/knowledge/library.ts'
import {
  type DocumentFormat,
  readDocument,
} from '../../src/capabilities/verification/knowledge/read-document.ts'
import { factsFromJson } from '../../src/capabilities/verification/verdicts/facts-from-json.ts'
import type { Fact } from '../../src/capabilities/verification/verdicts/judge-by-facts.ts'
import { readRecords } from './packed-records.ts'

interface LabelledDocument {
  readonly id: string
  /** Set that the document and its answers belong to; absent when a folder has one set. */
  readonly set?: string
  readonly title: string
  readonly format: DocumentFormat
  readonly text: string
  readonly facts?: readonly Fact[]
}

/** A claim of an answer with its label. */
export interface LabelledClaim {
  readonly text: string
  readonly label: string
  readonly trap: string | null
  readonly docs: readonly string[]
  readonly quote: string | null
}

/** An answer, and the question before it. */
interface Answer {
  /** Begins with the letter of its set. */
  readonly id: string
  readonly question: string
  readonly claims: readonly LabelledClaim[]
}

/** The documents of a folder, split and indexed. */
export interface Corpus {
  readonly answers: readonly Answer[]
  readonly documents: readonly LabelledDocument[]
  readonly split: ReadonlyMap<string, SplitDocument>
  readonly library: Library
  readonly facts: readonly Fact[]
}

/**
 * Reads the labelled claims of a folder, or of one set in it. The folder has
 * `documents.jsonl.gz` and `answers.jsonl.gz`.
 */
export function readCorpus(folder: string, set?: string): Corpus {
  const isOwn = (one: string | undefined) => set === undefined || one === set
  const all = readRecords<LabelledDocument>(join(folder, 'documents.jsonl.gz'))
  const documents = all.filter((document) => isOwn(document.set))
  const answers = readRecords<Answer>(join(folder, 'answers.jsonl.gz'))
  const split = new Map(documents.map((document) => [document.id, splitLabelled(document)]))
  const facts = documents.flatMap(({ id, format, text, facts: given = [] }) => [
    ...given.map((fact) => ({ ...fact, source: id })),
    ...(format === 'json' ? factsFromJson(id, text) : []),
  ])
  return {
    answers: answers.filter(({ id }) => isOwn(id[0])),
    documents,
    split,
    library: buildLibrary(split.values()),
    facts,
  }
}

function splitLabelled({ id, title, format, text }: LabelledDocument): SplitDocument {
  return splitDocument(id, title, readDocument(format, text))
}
