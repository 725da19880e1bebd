import { uuidAt } from './scalar-formats.ts'

/** Up to this length, a loop over bytes is faster than a call into the runtime. */
const maxLoopBytes = 16
const words_slots = 1024
const uuids_slots = 64
const nilUuid = '00000000-0000-0000-0000-000000000000'

/** The bytes are not a row of the expected columns. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow'
}

/**
 * Reads values that ByteWriter wrote, as copies. Every method throws MalformedRow when the bytes
 * end early.
 */
export class ByteReader {
  private bytes: Buffer = Buffer.alloc(0)
  private view = viewOf(this.bytes)
  private position = 0
  private readonly wordBytes: (Buffer | undefined)[] = new Array(words_slots).fill(undefined)
  private readonly words: string[] = new Array(words_slots).fill('')
  private readonly uuidParts = new Int32Array(uuids_slots * 4)
  private readonly uuids: string[] = new Array(uuids_slots).fill(nilUuid)

  /** Continues at offset `at` of these bytes. */
  moveTo(bytes: Buffer, at: number): void {
    if (this.bytes !== bytes) {
      this.bytes = bytes
      this.view = viewOf(bytes)
    }
    this.position = at
  }

  /** Offset of the next value. */
  get at(): number {
    return this.position
  }

  bool(): boolean {
    return this.bytes[this.advance(1)] === 1
  }

  u32(): number {
    return this.view.getUint32(this.advance(4), true)
  }

  /** Reads a UInt64 up to 2^53. */
  u53(): number {
    const at = this.advance(8)
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 2 ** 32
  }

  u53OrNull(): number | null {
    return this.bool() ? null : this.u53()
  }

  i64(): bigint {
    return this.view.getBigInt64(this.advance(8), true)
  }

  f64OrNull(): number | null {
    return this.bool() ? null : this.view.getFloat64(this.advance(8), true)
  }

  /** Reads a Nullable(Decimal(18, 9)) as text with nine digits after the point. */
  decimal9OrNull(): string | null {
    if (this.bool()) return null
    const ticks = this.i64()
    const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(10, '0')
    return `${ticks < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
  }

  varint(): number {
    let value = 0
    let factor = 1
    for (let size = 0; size < 5; size++) {
      const byte = this.bytes[this.advance(1)] ?? 0
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    throw new MalformedRow(`a length at ${this.position} has more than 5 bytes`)
  }

  /** Reads a UUID. Recent texts are cached, because rows of a batch repeat them. */
  uuid(): string {
    const at = this.advance(16)
    const { view, uuidParts } = this
    const a = view.getInt32(at, true)
    const b = view.getInt32(at + 4, true)
    const c = view.getInt32(at + 8, true)
    const d = view.getInt32(at + 12, true)
    const slot = (a ^ b ^ c ^ d) & (uuids_slots - 1)
    const offset = slot * 4
    const isKnown =
      uuidParts[offset] === a &&
      uuidParts[offset + 1] === b &&
      uuidParts[offset + 2] === c &&
      uuidParts[offset + 3] === d
    if (isKnown) return this.uuids[slot] ?? nilUuid
    const text = uuidAt(this.bytes, at)
    uuidParts[offset] = a
    uuidParts[offset + 1] = b
    uuidParts[offset + 2] = c
    uuidParts[offset + 3] = d
    this.uuids[slot] = text
    return text
  }

  string(): string {
    const size = this.varint()
    const at = this.advance(size)
    return size === 0 ? '' : this.bytes.toString('utf8', at, at + size)
  }

  /** Reads a string of few distinct values. Recent strings are cached. */
  word(): string {
    const size = this.varint()
    const at = this.advance(size)
    if (size === 0) return ''
    if (size > maxLoopBytes * 4) return this.bytes.toString('utf8', at, at + size)
    const slot = this.slotOf(at, size)
    const known = this.wordBytes[slot]
    if (known !== undefined && known.length === size && this.isAt(known, at)) {
      return this.words[slot] ?? ''
    }
    const word = this.bytes.toString('utf8', at, at + size)
    this.wordBytes[slot] = Buffer.from(this.bytes.subarray(at, at + size))
    this.words[slot] = word
    return word
  }

  /** Skips values of together this many bytes. */
  skip(size_bytes: number): void {
    this.advance(size_bytes)
  }

  /** Skips this number of strings. */
  skipStrings(count: number): void {
    for (let left = count; left > 0; left--) this.advance(this.varint())
  }

  /** Passes a map of strings, and returns the value of a key of it; '' without one. */
  valueOf(key: Buffer): string {
    let value = ''
    for (let left = this.varint(); left > 0; left--) {
      const size = this.varint()
      const at = this.advance(size)
      if (size === key.length && this.isAt(key, at)) value = this.string()
      else this.skipStrings(1)
    }
    return value
  }

  /** Reads a map of strings. Of two equal keys, the later one wins. */
  record(): Record<string, string> {
    const entries: [string, string][] = []
    for (let left = this.varint(); left > 0; left--) entries.push([this.word(), this.string()])
    return Object.fromEntries(entries)
  }

  private slotOf(at: number, size: number): number {
    const { bytes } = this
    let hash = size
    for (let index = at; index < at + size; index++) hash = (hash * 31 + (bytes[index] ?? 0)) | 0
    return hash & (words_slots - 1)
  }

  private isAt(known: Buffer, at: number): boolean {
    const { bytes } = this
    for (let index = 0; index < known.length; index++) {
      if (known[index] !== bytes[at + index]) return false
    }
    return true
  }

  private advance(size_bytes: number): number {
    const { position } = this
    this.position = position + size_bytes
    if (this.position > this.bytes.length) {
      throw new MalformedRow(`the row ends early, at ${this.bytes.length}`)
    }
    return position
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
