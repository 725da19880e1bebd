/** The bounded caches of one decoder, shared by its requests. */
export type TextCaches = {
  readonly keys: TextCache
  readonly texts: TextCache
  readonly ids: IdCache
}

/** 4,096 slots each, for some hundreds of keys in use. At most about 2 MB together. */
const places = 4_096

export function newTextCaches(): TextCaches {
  return { keys: new TextCache(places), texts: new TextCache(places), ids: new IdCache() }
}

/** Maximum bytes of a text that is looked up in the cache. */
export const maxCachedTextBytes = 64

type Entry = { length: number; words: Int32Array; text: string }

/**
 * A cache of ASCII texts by their bytes, so that a key that comes with every span is one string and
 * costs no allocation. It is bounded: a text has one slot, which it takes over from another text
 * when it comes for the second time. Texts that come once (ids) replace nothing.
 */
export class TextCache {
  private readonly mask: number
  private readonly entries: (Entry | undefined)[]
  /** For each slot, the hash of the text that takes it over when it comes again. */
  private readonly candidates: Int32Array

  /** `places` is the number of slots, a power of two. */
  constructor(places: number) {
    this.mask = places - 1
    this.entries = new Array<Entry | undefined>(places).fill(undefined)
    this.candidates = new Int32Array(places)
  }

  /**
   * Returns the text of these bytes, at most `maxCachedTextBytes`; undefined when they are not
   * ASCII. `view` covers `bytes`.
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

/** Returns true when the bytes after the last whole word equal those of the entry. */
function isSameTail({ length, words }: Entry, bytes: Buffer, end: number): boolean {
  const left = length & 3
  return left === 0 || tail(bytes, end - left, end) === words[length >> 2]
}

/** Packs one to three bytes into a number. */
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

const hexDigits = Buffer.from('0123456789abcdef')
/** Span ids to remember, since a parent's id comes with each of its children. A power of two. */
const spanIds = 256

/**
 * Formats ids as text. It remembers the last trace id and some span ids, because spans of a trace
 * come together and share parents. The text of an all-zero id is ''.
 */
export class IdCache {
  private readonly trace = new Int32Array(4)
  private traceText = ''
  private readonly spans = new Int32Array(spanIds * 2)
  private readonly spanTexts = new Array<string>(spanIds).fill('')
  private readonly scratch = Buffer.alloc(36)

  /** Formats the 16 bytes at `at` as a lower-case UUID. */
  traceId(bytes: Buffer, view: DataView, at: number): string {
    const a = view.getInt32(at, true)
    const b = view.getInt32(at + 4, true)
    const c = view.getInt32(at + 8, true)
    const d = view.getInt32(at + 12, true)
    const last = this.trace
    if (last[0] === a && last[1] === b && last[2] === c && last[3] === d) return this.traceText
    if ((a | b | c | d) === 0) return ''
    last[0] = a
    last[1] = b
    last[2] = c
    last[3] = d
    this.traceText = this.uuid(bytes, at)
    return this.traceText
  }

  /** Formats the 8 bytes at `at` as 16 lower-case hex digits. */
  spanId(bytes: Buffer, view: DataView, at: number): string {
    const a = view.getInt32(at, true)
    const b = view.getInt32(at + 4, true)
    const place = (a ^ Math.imul(b, 0x9e37_79b1)) & (spanIds - 1)
    if (this.spans[place * 2] === a && this.spans[place * 2 + 1] === b) {
      return this.spanTexts[place] as string
    }
    if ((a | b) === 0) return ''
    this.spans[place * 2] = a
    this.spans[place * 2 + 1] = b
    const text = this.hex(bytes, at)
    this.spanTexts[place] = text
    return text
  }

  private uuid(bytes: Buffer, at: number): string {
    const scratch = this.scratch
    let to = 0
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) scratch[to++] = 0x2d
      const byte = bytes[at + i] as number
      scratch[to++] = hexDigits[byte >> 4] as number
      scratch[to++] = hexDigits[byte & 15] as number
    }
    return scratch.toString('latin1', 0, 36)
  }

  private hex(bytes: Buffer, at: number): string {
    const scratch = this.scratch
    for (let i = 0; i < 8; i++) {
      const byte = bytes[at + i] as number
      scratch[i * 2] = hexDigits[byte >> 4] as number
      scratch[i * 2 + 1] = hexDigits[byte & 15] as number
    }
    return scratch.toString('latin1', 0, 16)
  }
}
