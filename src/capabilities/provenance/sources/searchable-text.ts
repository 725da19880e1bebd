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
} from '../text/index.ts'
import type { Evidence } from '../values/index.ts'

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

  /** Finds letters and digits in this order, as whole words; signs between them are ignored. */
  findCompact(letters: string): Evidence | undefined {
    this.#compact ??= foldCompact(this.text)
    const { text } = this.#compact
    let start = text.indexOf(letters)
    for (let count = 0; start >= 0 && count < occurrences_max; count += 1) {
      const at = toOriginal(this.#compact, [start, start + letters.length])
      if (this.#isWhole(at)) return this.evidenceAt(at)
      start = text.indexOf(letters, start + 1)
    }
    return undefined
  }

  /** Returns whether a longer word begins or ends with these letters and digits. */
  hasPart(letters: string): boolean {
    this.#compact ??= foldCompact(this.text)
    const start = this.#compact.text.indexOf(letters)
    if (start < 0) return false
    const [from, to] = toOriginal(this.#compact, [start, start + letters.length])
    return (
      !/[\p{L}\p{N}]/u.test(this.text[from - 1] ?? '') || !/[\p{L}\p{N}]/u.test(this.text[to] ?? '')
    )
  }

  evidenceAt(at: Range): Evidence {
    return { source: this.source, quote: this.text.slice(...at), at }
  }

  /** Returns whether no number and no word goes on at either end of a range. */
  #isWhole([start, end]: Range): boolean {
    return !joins(this.text, start) && !joins(this.text, end)
  }
}

function joins(text: string, place: number): boolean {
  const [before = '', after = ''] = [text[place - 1], text[place]]
  return (/\d/.test(before) && /\d/.test(after)) || (/\p{L}/u.test(before) && /\p{L}/u.test(after))
}

/** Replaces the escapes of JSON by blanks: all offsets stay. */
export function unescapeJson(text: string): string {
  return text.replace(/\\[nrt]/g, '\n ').replace(/\\"/g, ' "')
}
