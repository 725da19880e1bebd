import type { Range } from '../../provenance/text/index.ts'
import type { AnswerContext, ClaimToCheck } from '../contract.ts'
import type { Question } from '../knowledge/library.ts'
import type { CitedText } from './cited-texts.ts'
import {
  type Quotation,
  type Reference,
  readQuotations,
  readReferences,
  withoutReferences,
} from './references.ts'
import { readSeenTexts, type SeenTexts } from './seen-texts.ts'

/** A claim with its references, resolved to texts that the agent saw. */
export type Citations = {
  claim: ClaimToCheck
  /** The claim without its references, and the question that it answers. */
  statement: Question
  quotes: readonly Quotation[]
  /** The cited sources. Without references, everything that the agent saw. */
  texts: readonly CitedText[]
  hasReferences: boolean
  /** URLs that are cited, and those of the cited sources. */
  urls: readonly string[]
  /** Why references have no source. */
  unseen: readonly string[]
  /** Why a reference cannot exist; undefined when all can. */
  impossible: string | undefined
}

export type CitationReader = {
  seen: SeenTexts
  /**
   * Returns undefined for a claim without references and quotes, and for a line of a bibliography.
   */
  read(claim: ClaimToCheck): Citations | undefined
}

/** Reads the texts that the agent saw and the bibliography of the answer once, for all claims. */
export function openCitations(context: AnswerContext): CitationReader {
  const seen = readSeenTexts(context.seen)
  const entries = readBibliography(context.answer.text)
  const isComplete =
    context.answer.is_complete &&
    context.gaps.length === 0 &&
    context.seen.every(({ is_complete }) => is_complete)
  const follow = (reference: Reference) => followReference({ seen, entries, isComplete }, reference)
  return {
    seen,
    read: (claim) => {
      const [start, end] = claim.at
      if (entries.some(({ at }) => at[0] < end && start < at[1])) return undefined
      const references = readReferences(claim.text)
      const quotes = readQuotations(claim.text, references)
      const followed = references.flatMap((reference) => follow(reference) ?? [])
      const hasReferences = followed.length > 0
      if (!hasReferences && quotes.length === 0) return undefined
      return {
        claim,
        quotes,
        hasReferences,
        statement: { text: withoutReferences(claim.text, references), context: context.question },
        texts: hasReferences ? unique(followed.flatMap(({ texts }) => texts)) : seen.all,
        urls: unique(followed.flatMap(({ urls }) => urls)),
        unseen: followed.flatMap(({ unseen }) => unseen ?? []),
        impossible: followed.find(({ impossible }) => impossible !== undefined)?.impossible,
      }
    },
  }
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}

type Sources = {
  seen: SeenTexts
  entries: readonly Entry[]
  /** Whether the answer and the texts that the agent saw are complete. */
  isComplete: boolean
}

type Followed = {
  texts: readonly CitedText[]
  urls: readonly string[]
  unseen?: string
  impossible?: string
}

/** Resolves a reference; undefined for words such as `according to experts`. */
function followReference(sources: Sources, reference: Reference): Followed | undefined {
  const { seen } = sources
  if (reference.kind === 'number') return followNumber(sources, reference)
  if (reference.kind === 'url') {
    const { url } = reference
    return followed(seen.byUrl(url), `${shorten(url)} is not in what the agent saw`, [url])
  }
  const { name, isNamed } = reference
  const texts = seen.byName(name, isNamed)
  if (texts.length === 0 && !isNamed) return undefined
  return followed(texts, `"${shorten(name)}" is not in what the agent saw`)
}

function followed(
  texts: readonly CitedText[],
  unseen: string,
  cited: readonly string[] = [],
): Followed {
  if (texts.length === 0) return { texts, urls: cited, unseen }
  return { texts, urls: unique([...cited, ...texts.flatMap(({ url }) => url ?? [])]) }
}

function followNumber(
  { seen, entries, isComplete }: Sources,
  { label, isList }: Extract<Reference, { kind: 'number' }>,
): Followed | undefined {
  const entry = entries.find((one) => one.label === label)
  if (entry !== undefined) return followEntry(seen, entry)
  const texts = seen.byNumber(label)
  if (texts.length > 0) return followed(texts, '')
  if (entries.length === 0 && seen.highest === 0) {
    // `[1, 2, 3]` is more likely a list of values when there are no sources.
    const unseen = `[${label}] has no source: the agent saw no list of sources`
    return isList ? undefined : { texts, urls: [], unseen }
  }
  const canExist = Number(label) <= seen.highest
  if (canExist || !isComplete) return { texts, urls: [], unseen: `[${label}] leads to no source` }
  const sizes = [
    ...(entries.length > 0 ? [`the answer lists ${entries.length}`] : []),
    ...(seen.highest > 0 ? [`the agent saw ${seen.highest}`] : []),
  ]
  const impossible = `[${label}] does not exist among the sources: ${sizes.join(', ')}`
  return { texts, urls: [], impossible }
}

function followEntry(seen: SeenTexts, { label, url, title }: Entry): Followed {
  const named = title === '' ? [] : seen.byName(title, false)
  const texts = unique([...(url === undefined ? [] : seen.byUrl(url)), ...named])
  const cited = url === undefined ? [] : [url]
  const found = texts.length > 0 || url !== undefined ? texts : seen.byNumber(label)
  return followed(found, `the source of [${label}] is not in what the agent saw`, cited)
}

const shown_chars_max = 100

function shorten(text: string): string {
  return text.length > shown_chars_max ? `${text.slice(0, shown_chars_max)}…` : text
}

/** A source that the answer lists: `[1]: https://…`, `[^1]: Fees 2026`, `1. Fees` below `Sources`. */
type Entry = { label: string; url: string | undefined; title: string; at: Range }

/** Lines of an answer that are read, and entries. */
const lines_max = 20_000
const entries_max = 500

const heading =
  /^[\s#*_]{0,8}(?:sources?|references?|bibliography|citations?|links?|quellen(?:angaben)?|literatur|références|fuentes|referencias)[\s*_:]{0,6}$/iu
const footnote = /^\s{0,3}[-*]?\s{0,3}\[\^?([\p{L}\p{N}_-]{1,30})\]:\s{0,9}(.*)$/u
const bracketed = /^\s{0,3}[-*]?\s{0,3}[[【]\^?(\d{1,3})[\]】]\s{1,9}(.*)$/u
const numbered = /^\s{0,3}(\d{1,3})[.)]\s{1,9}(.*)$/u
const url = /https?:\/\/[^\s<>"'`)\]}|]{3,2000}/i

/** Reads the sources that an answer lists, in order. */
function readBibliography(answer: string): Entry[] {
  const entries: Entry[] = []
  let isBelowHeading = false
  let start = 0
  for (const line of answer.split('\n', lines_max)) {
    const at: Range = [start, start + line.length]
    start += line.length + 1
    if (heading.test(line)) isBelowHeading = true
    else if (line.trim() !== '') {
      const entry = entryFrom(line, at, isBelowHeading)
      if (entry !== undefined && entries.length < entries_max) entries.push(entry)
      isBelowHeading &&= entry !== undefined
    }
  }
  return entries
}

function entryFrom(line: string, at: Range, isBelowHeading: boolean): Entry | undefined {
  const match =
    footnote.exec(line) ?? bracketed.exec(line) ?? (isBelowHeading ? numbered.exec(line) : null)
  const [, label, text = ''] = match ?? []
  if (label === undefined) return undefined
  const found = url.exec(text)?.[0].replace(/[.,;:!?]+$/, '')
  const title = text
    .replace(/\[([^\]]{0,300})\]\([^)]{0,2000}\)/g, '$1')
    .replace(url, '')
    .replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '')
  // A sentence may begin with its reference: `[1] says that …`.
  const isEntry =
    isBelowHeading || footnote.test(line) || (found !== undefined && title.length < 120)
  return isEntry ? { label, url: found, title: title.slice(0, 300), at } : undefined
}
