import {
  type FoldedText,
  foldText,
  type MappedText,
  matchQuote,
  type Range,
  toSource,
} from '../../provenance/text/index.ts'
import type { SeenSource, StoredEvidence } from '../contract.ts'
import { quote_chars_max } from '../contract.ts'
import { indexText } from '../knowledge/index-text.ts'
import { findPassages, type Library, type Question } from '../knowledge/library.ts'
import { type DocumentFormat, readDocument } from '../knowledge/read-document.ts'
import { judgeByWords, type WordJudgement } from '../verdicts/judge-by-words.ts'

/** A text that an answer can cite: a text that the agent saw, a part of one, or a web page. */
export class CitedText {
  readonly title: string
  readonly url: string | undefined
  /** Whether the text is complete, so that a missing quote was never in the source. */
  readonly isWhole: boolean
  /** The readable text. */
  readonly text: string
  readonly #toEvidence: (range: Range) => StoredEvidence
  #folded: FoldedText | undefined
  #library: Library | undefined

  constructor(
    about: { title: string; url?: string | undefined; isWhole: boolean; text: string },
    toEvidence: (range: Range) => StoredEvidence,
  ) {
    this.title = about.title
    this.url = about.url
    this.isWhole = about.isWhole
    this.text = about.text
    this.#toEvidence = toEvidence
  }

  /** Finds a quote; undefined when the text does not have it. */
  findQuote(quote: string): StoredEvidence | undefined {
    const range = matchQuote(quote, this.#fold())
    return range === undefined ? undefined : this.#toEvidence(range)
  }

  /** Reports whether the name of a document occurs in the text. */
  mentions(name: string): boolean {
    return this.#fold().text.includes(foldText(name).text.trim())
  }

  /** Compares a statement with the text by its words. */
  judge(statement: Question): { judgement: WordJudgement; evidence: StoredEvidence[] } {
    // The words of a URL are not compared.
    const words = this.text.replace(urls, (url) => ' '.repeat(url.length))
    this.#library ??= indexText('text', this.title, words)
    const judgement = judgeByWords(statement, findPassages(this.#library, statement))
    const evidence = judgement.evidence.flatMap(({ at }) => (at ? [this.#toEvidence(at)] : []))
    return { judgement, evidence }
  }

  #fold(): FoldedText {
    this.#folded ??= foldText(this.text)
    return this.#folded
  }
}

const urls = /https?:\/\/[^\s<>"'`)\]}|\\]{3,2000}/gi
const json = /^\s*(?:\{\s*["}]|\[\s*[{["\]])/

/** A text that the agent saw, in readable form, with a mapping to the original offsets. */
export type ReadSource = { source: SeenSource; mapped: MappedText }

/** Reads a text that the agent saw; JSON reads as words, with one line for each object. */
export function readSource(source: SeenSource): ReadSource {
  const format: DocumentFormat = json.test(source.text) ? 'json' : 'text'
  return { source, mapped: readDocument(format, source.text) }
}

/** Returns a part of a text that the agent saw as a text that can be cited. */
export function citedPart(
  { source, mapped }: ReadSource,
  about: { title: string; url?: string | undefined; isWhole: boolean; range?: Range },
): CitedText {
  const [start, end] = about.range ?? [0, mapped.text.length]
  return new CitedText({ ...about, text: mapped.text.slice(start, end) }, ([from, to]) => {
    const at = cut(toSource(mapped, [start + from, start + to]))
    const { digest, place } = source
    const quote = source.text.slice(...at)
    return { kind: 'trace', source: source.source, quote, at, digest, place }
  })
}

/** Returns a page of the web as a text that can be cited. */
export function citedPage(page: {
  url: string
  title: string
  text: string
  digest: string
}): CitedText {
  const { url, title, text, digest } = page
  // A page may be incomplete because of scripts or a sign-in.
  return new CitedText({ title, url, text, isWhole: false }, (range) => {
    const at = cut(range)
    return { kind: 'web', source: url, quote: text.slice(...at), at, digest }
  })
}

function cut([start, end]: Range): Range {
  return [start, Math.min(end, start + quote_chars_max)]
}
