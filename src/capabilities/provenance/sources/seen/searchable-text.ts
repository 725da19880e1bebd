import {
  decodeText,
  type FoldedText,
  foldCompact,
  foldText,
  type MappedText,
  matchQuote,
  type Range,
  toOriginal,
  toSource,
} from '../../text/index.ts'
import type { Evidence } from '../../values/index.ts'

/** Occurrences of a text that are looked at until one has whole words around it. */
const occurrences_max = 100

/** A seen text that is folded when a quotation or an id is searched in it for the first time. */
export class SearchableText {
  readonly source: string
  readonly text: string
  #quotes: FoldedText | undefined
  #compact: FoldedText | undefined
  /** The text without entities, if it has some. */
  #decoded: MappedText | undefined
  #isDecoded = false

  constructor(source: string, text: string) {
    this.source = source
    this.text = text
  }

  /** Finds a quotation, with other quotation marks, dashes, spaces and case. */
  findQuote(quote: string): Evidence | undefined {
    const decoded = this.#decode()
    this.#quotes ??= foldText(unescapeJson(decoded?.text ?? this.text))
    const at = matchQuote(quote, this.#quotes)
    if (at === undefined) return undefined
    return this.evidenceAt(decoded === undefined ? at : toSource(decoded, at))
  }

  #decode(): MappedText | undefined {
    if (!this.#isDecoded) this.#decoded = decodeText(this.text)
    this.#isDecoded = true
    return this.#decoded
  }

  /**
   * Finds letters and digits in this order, as whole words; signs between them are ignored, but a
   * code does not reach into the next cell or clause, unless `isPhrase`.
   */
  findCompact(letters: string, isPhrase = false): Evidence | undefined {
    this.#compact ??= foldCompact(this.text)
    const { text } = this.#compact
    let start = text.indexOf(letters)
    for (let count = 0; start >= 0 && count < occurrences_max; count += 1) {
      const at = toOriginal(this.#compact, [start, start + letters.length])
      if (this.#isWhole(at, isPhrase)) return this.evidenceAt(at)
      start = text.indexOf(letters, start + 1)
    }
    return undefined
  }

  evidenceAt(at: Range): Evidence {
    return { source: this.source, quote: this.text.slice(...at), at }
  }

  /** Returns whether a range is one code: none goes on at its ends, and no other one begins in it. */
  #isWhole([start, end]: Range, isPhrase: boolean): boolean {
    if (joins(this.text, start) || joins(this.text, end)) return false
    return isPhrase || !otherCode.test(this.text.slice(start, end))
  }
}

/** Signs between two cells or two words, not inside an id. */
const otherCode = /[,;"\n{}[\]|]|:\s|\s{2}/

function joins(text: string, place: number): boolean {
  const [before = '', after = ''] = [text[place - 1], text[place]]
  return (/\d/.test(before) && /\d/.test(after)) || (/\p{L}/u.test(before) && /\p{L}/u.test(after))
}

/** Replaces the escapes of JSON by blanks: all offsets stay. */
export function unescapeJson(text: string): string {
  return text.replace(/\\[nrt]/g, '\n ').replace(/\\"/g, ' "')
}
