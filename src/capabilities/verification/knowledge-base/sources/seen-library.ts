import type { SeenSource, StoredEvidence } from '../../contract.ts'
import { type SplitDocument, splitDocument } from '../../knowledge/chunks.ts'
import { buildLibrary, findPassages, type Passage, type Question } from '../../knowledge/library.ts'
import { type DocumentFormat, readDocument } from '../../knowledge/read-document.ts'
import { factsFromJson } from '../../verdicts/facts-from-json.ts'
import type { Fact } from '../../verdicts/judge-by-facts.ts'
import { quoteRange, toText } from './locate-quote.ts'

/** The texts that an agent saw, indexed once for all claims of its answer. */
export type SeenLibrary = {
  find(question: Question): Passage[]
  /** Returns the evidence of a passage. */
  cite(passage: Passage): StoredEvidence
  /** Numbers of named objects in the JSON of tools. */
  facts: readonly Fact[]
}

/** Code units that are indexed; more would take seconds. Tools come first, the latest first. */
const seen_chars_max = 500_000
/** Facts that are read of all tools. */
const facts_max = 10_000
/** Code units from which a message of a user is material, such as a pasted text. */
const material_chars_min = 500

/**
 * Indexes the texts that an agent saw. A short message of a user is a request, not a source. A
 * question is not a statement: `Is the fee 12 euros?` does not support `The fee is 12 euros`.
 */
export function openSeenLibrary(seen: readonly SeenSource[]): SeenLibrary {
  const sources = seen.filter(
    ({ role, text }) => role !== 'user' || text.length >= material_chars_min,
  )
  const documents: SplitDocument[] = []
  let left = seen_chars_max
  for (const { role, text } of byWorth(sources)) {
    const whole = role === 'user' ? blankQuestions(text) : text
    const part = whole.slice(0, left)
    left -= part.length
    if (part === '') break
    const format = formatOf(part)
    documents.push(splitDocument(String(documents.length), '', readDocument(format, part)))
  }
  const ordered = byWorth(sources)
  const library = buildLibrary(documents)
  return {
    find: (question) => findPassages(library, question),
    cite: (passage) => {
      const at = Number(passage.source)
      return citePassage(passage, documents[at], ordered[at])
    },
    facts: readFacts(ordered),
  }
}

/** Reads the facts of tools, the latest first, until there are enough. */
function readFacts(sources: readonly SeenSource[]): Fact[] {
  const facts: Fact[] = []
  for (const { role, source, text } of sources) {
    if (facts.length >= facts_max) break
    if (role !== 'tool' || !isJson(text)) continue
    for (const fact of factsFromJson(source, text.slice(0, seen_chars_max))) facts.push(fact)
  }
  return facts.slice(0, facts_max)
}

function byWorth(sources: readonly SeenSource[]): SeenSource[] {
  const worth = { tool: 0, system: 1, user: 2 }
  return sources.toReversed().toSorted((one, other) => worth[one.role] - worth[other.role])
}

/** A page begins with a tag of a page; markup in the middle of a text is not read. */
const page =
  /^\s{0,100}<(?:!doctype html|html|head|body|main|article|section|div|table|ul|ol|p|h[1-6])[\s>]/i

function formatOf(text: string): DocumentFormat {
  if (isJson(text)) return 'json'
  return page.test(text) ? 'html' : 'text'
}

function isJson(text: string): boolean {
  return /^\s{0,100}[[{]/.test(text)
}

/** Replaces each question by spaces, so that offsets stay. */
function blankQuestions(text: string): string {
  return text.replace(/[^.!?\n]{1,2000}\?/g, (question) => ' '.repeat(question.length))
}

function citePassage(
  passage: Passage,
  document: SplitDocument | undefined,
  seen: SeenSource | undefined,
): StoredEvidence {
  if (document === undefined || seen === undefined) throw new Error('a passage of another library')
  const start = document.mapped.text.indexOf(passage.text, toText(document.mapped, passage.at[0]))
  const range = [start, start + passage.text.length] as const
  const { quote, at } = quoteRange(document.mapped, range)
  const { source, digest, place } = seen
  return { kind: 'trace', source, quote, at, digest, place }
}
