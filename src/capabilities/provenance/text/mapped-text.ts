/** A range of UTF-16 code units: start, and end exclusive. */
export type Range = readonly [start: number, end: number]

/** Plain text with the source range of each of its parts. */
export interface MappedText {
  readonly text: string
  readonly pieces: readonly Piece[]
}

/** `length` code units of text at `at`, which replace `taken` code units of the source. */
interface Piece {
  readonly at: number
  readonly source: number
  readonly length: number
  readonly taken: number
}

/** Returns the range of the source that a range of the text was read from. */
export function toSource({ pieces }: MappedText, [start, end]: Range): Range {
  const first = findPiece(pieces, start)
  const last = findPiece(pieces, Math.max(start, end - 1))
  if (first === undefined || last === undefined) return [0, 0]
  const isCopied = last.length === last.taken
  return [
    first.length === first.taken ? first.source + start - first.at : first.source,
    isCopied ? last.source + end - last.at : last.source + last.taken,
  ]
}

/** Finds the last piece that begins at or before a position of the text. */
function findPiece(pieces: readonly Piece[], position: number): Piece | undefined {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((pieces[middle]?.at ?? 0) <= position) low = middle
    else high = middle - 1
  }
  return pieces[low]
}

/** Builds a mapped text from left to right. Positions in the source must not decrease. */
export class TextBuilder {
  readonly #source: string
  readonly #parts: string[] = []
  readonly #pieces: Piece[] = []
  #length = 0
  #last = '\n'

  constructor(source: string) {
    this.#source = source
  }

  /** The last character written; a line break at the beginning. */
  get last(): string {
    return this.#last
  }

  /** Copies a range of the source. */
  copy(start: number, end: number): void {
    if (end > start) this.#append(this.#source.slice(start, end), start, end - start)
  }

  /** Writes text that replaces `taken` code units of the source at `source`. */
  write(text: string, source: number, taken = 0): void {
    if (text !== '') this.#append(text, source, taken)
  }

  /** Writes a space unless the text ends in white space. */
  space(source: number): void {
    if (this.#last !== ' ' && this.#last !== '\n') this.write(' ', source)
  }

  /** Begins a new line unless one has just begun. */
  line(source: number): void {
    if (this.#last !== '\n') this.write('\n', source)
  }

  finish(): MappedText {
    return { text: this.#parts.join(''), pieces: this.#pieces }
  }

  #append(text: string, source: number, taken: number): void {
    const before = this.#pieces.at(-1)
    const continues =
      before !== undefined &&
      before.length === before.taken &&
      text.length === taken &&
      before.source + before.taken === source
    if (continues) {
      const length = before.length + taken
      this.#pieces[this.#pieces.length - 1] = { ...before, length, taken: length }
    } else {
      this.#pieces.push({ at: this.#length, source, length: text.length, taken })
    }
    this.#parts.push(text)
    this.#length += text.length
    this.#last = text.at(-1) ?? this.#last
  }
}
