/** Longest text that is worth comparing with what came before, in bytes. */
export const cachedText_bytes_max = 64

type Entry = { length: number; words: Int32Array; text: string }

/**
 * Texts by their bytes, so that a key that comes with every span is one string for all of them and
 * costs no allocation. Bounded: a text has one place, where it replaces another when it comes for
 * the second time; texts that come once (ids) replace nothing. Only ASCII is kept.
 */
export class TextCache {
  private readonly mask: number
  private readonly entries: (Entry | undefined)[]
  /** The hash of the text that would take this place if it came again. */
  private readonly candidates: Int32Array

  /** `places` is a power of two. */
  constructor(places: number) {
    this.mask = places - 1
    this.entries = new Array<Entry | undefined>(places).fill(undefined)
    this.candidates = new Int32Array(places)
  }

  /**
   * The text of these bytes, at most `cachedText_bytes_max`; undefined when they are not ASCII.
   * `view` is over `bytes`.
   */
  text(bytes: Buffer, view: DataView, start: number, end: number): string | undefined {
    let hash = end - start
    let seen = 0
    let at = start
    for (; at + 4 <= end; at += 4) {
      const word = view.getInt32(at, true)
      seen |= word
      hash = Math.imul(hash ^ word, 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    if (at < end) {
      const word = tail(bytes, at, end)
      seen |= word
      hash = Math.imul(hash ^ word, 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    if ((seen & 0x8080_8080) !== 0) return undefined
    const place = hash & this.mask
    const entry = this.entries[place]
    if (entry !== undefined && isSame(entry, view, start, end) && isSameTail(entry, bytes, end)) {
      return entry.text
    }
    return this.miss(bytes.subarray(start, end), hash)
  }

  private miss(bytes: Buffer, hash: number): string {
    const text = bytes.toString('latin1')
    const place = hash & this.mask
    if (this.candidates[place] !== hash) this.candidates[place] = hash
    else this.entries[place] = entryOf(bytes, text)
    return text
  }
}

function isSame(entry: Entry, view: DataView, start: number, end: number): boolean {
  if (entry.length !== end - start) return false
  const words = entry.words
  let at = start
  for (let i = 0; at + 4 <= end; i++, at += 4) {
    if (view.getInt32(at, true) !== words[i]) return false
  }
  return true
}

/** Whether the bytes after the last whole word are those of the entry. */
function isSameTail({ length, words }: Entry, bytes: Buffer, end: number): boolean {
  const left = length & 3
  return left === 0 || tail(bytes, end - left, end) === words[length >> 2]
}

/** One to three bytes as a number. */
function tail(bytes: Buffer, start: number, end: number): number {
  let word = bytes[start] as number
  if (start + 1 < end) word |= (bytes[start + 1] as number) << 8
  if (start + 2 < end) word |= (bytes[start + 2] as number) << 16
  return word
}

function entryOf(bytes: Buffer, text: string): Entry {
  const whole = bytes.length >> 2
  const words = new Int32Array(whole + 1)
  for (let i = 0; i < whole; i++) words[i] = bytes.readInt32LE(i * 4)
  if (whole * 4 < bytes.length) words[whole] = tail(bytes, whole * 4, bytes.length)
  return { length: bytes.length, words, text }
}
