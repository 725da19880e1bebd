import { decimalTicks, fewTicks, putUuid, putVarint, varintSize } from './scalar-formats.ts'

/** Up to so many characters a loop over char codes is quicker than a call into the runtime. */
const loopChars_max = 64
const bytesPerChar_max = 3
/** Texts of a map that are compared with those of the map before, at most. */
const repeatedTexts_max = 64
/** No head of a text, and no number, takes more. */
const number_bytes_max = 8

/**
 * Writes values of ClickHouse's format RowBinary into one buffer that grows; numbers are
 * little-endian. Methods throw TypeError or RangeError for a value that does not fit, and may have
 * written a part of it then: `rewind` undoes that.
 * Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export class ByteWriter {
  private bytes: Buffer
  private view: DataView
  private position: number
  private uuidText = ''
  private readonly uuidBytes = Buffer.alloc(16)
  /** The pairs that were written last, where they begin, and where each of their texts ends. */
  private pairTexts: readonly (string | Uint8Array)[] = []
  private pairsAt = 0
  private readonly pairEnds = new Int32Array(repeatedTexts_max)

  /** Starts at `at` of the buffer; when that is too small, a larger one takes its place. */
  constructor(buffer: Buffer, at = 0) {
    this.bytes = buffer
    this.view = viewOf(buffer)
    this.position = at
  }

  /** Where the next value goes. */
  get at(): number {
    return this.position
  }

  /** The buffer that is written to; another one after it had to grow. */
  get buffer(): Buffer {
    return this.bytes
  }

  /** What was written so far, in the buffer itself. */
  written(): Buffer {
    return this.bytes.subarray(0, this.position)
  }

  /** Forgets what was written from `at` on. */
  rewind(at: number): void {
    this.position = Math.min(at, this.position)
    this.pairTexts = []
  }

  /** Goes on in another buffer, at `at`. */
  moveTo(buffer: Buffer, at: number): void {
    this.bytes = buffer
    this.view = viewOf(buffer)
    this.position = at
    this.pairTexts = []
  }

  /** Leaves room for a number that is known later (`putU8`, `putU32`). Returns where it is. */
  skip(size_bytes: number): number {
    this.reserve(size_bytes)
    const { position } = this
    this.position += size_bytes
    return position
  }

  putU8(at: number, value: number): void {
    this.bytes[at] = value
  }

  putU32(at: number, value: number): void {
    this.view.setUint32(at, value, true)
  }

  u8(value: number): void {
    this.reserve(1)
    if (value < 0 || value > 0xff) throw new RangeError(`${value} is no UInt8`)
    this.bytes[this.position++] = value
  }

  bool(value: boolean): void {
    this.reserve(1)
    this.bytes[this.position++] = value ? 1 : 0
  }

  u16(value: number): void {
    this.reserve(2)
    if (value < 0 || value > 0xffff) throw new RangeError(`${value} is no UInt16`)
    this.view.setUint16(this.position, value, true)
    this.position += 2
  }

  u32(value: number): void {
    this.reserve(4)
    if (value !== value >>> 0) throw new RangeError(`${value} is no UInt32`)
    this.view.setUint32(this.position, value, true)
    this.position += 4
  }

  /** A whole number of 0 to 2^53 without the cost of a bigint. */
  u53(value: number): void {
    this.reserve(8)
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no UInt64`)
    this.view.setUint32(this.position, value % 2 ** 32, true)
    this.view.setUint32(this.position + 4, value / 2 ** 32, true)
    this.position += 8
  }

  /** Nullable(UInt64). */
  u53OrNull(value: number | null): void {
    this.bool(value === null)
    if (value !== null) this.u53(value)
  }

  u64(value: bigint): void {
    this.reserve(8)
    if (value < 0n || value >= 2n ** 64n) throw new RangeError(`${value} is no UInt64`)
    this.view.setBigUint64(this.position, value, true)
    this.position += 8
  }

  i64(value: bigint): void {
    this.reserve(8)
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} is no Int64`)
    this.view.setBigInt64(this.position, value, true)
    this.position += 8
  }

  f64(value: number): void {
    this.reserve(8)
    this.view.setFloat64(this.position, value, true)
    this.position += 8
  }

  /** Nullable(Float64). */
  f64OrNull(value: number | null): void {
    this.bool(value === null)
    if (value !== null) this.f64(value)
  }

  /** Nullable(Decimal(18, 9)) from decimal text. */
  decimal9OrNull(value: string | null): void {
    this.bool(value === null)
    if (value === null) return
    const ticks = fewTicks(value)
    if (ticks < 0) this.i64(decimalTicks(value, 18, 9))
    else this.u53(ticks)
  }

  /** LEB128, as ClickHouse writes lengths. */
  varint(value: number): void {
    this.reserve(number_bytes_max)
    this.position = putVarint(this.bytes, this.position, value)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  /** A UUID. The one that was written last costs a copy only. */
  uuid(text: string): void {
    this.reserve(16)
    const { bytes, uuidBytes, position } = this
    if (text === this.uuidText) bytes.set(uuidBytes, position)
    else {
      if (!putUuid(bytes, position, text)) {
        throw new TypeError(`got "${String(text).slice(0, 80)}", expected UUID`)
      }
      this.uuidText = text
      for (let index = 0; index < 16; index++) uuidBytes[index] = bytes[position + index] ?? 0
    }
    this.position += 16
  }

  /** A String: its length in bytes, then the bytes. */
  text(value: string | Uint8Array): void {
    if (typeof value === 'string') this.string(value)
    else {
      this.varint(value.length)
      this.raw(value)
    }
  }

  /** Length in bytes, then UTF-8; a lone surrogate becomes U+FFFD. */
  string(value: string): void {
    if (value.length > loopChars_max) this.longString(value)
    else {
      this.reserve(loopChars_max * bytesPerChar_max + number_bytes_max)
      if (!this.shortAscii(value)) this.longString(value)
    }
  }

  /**
   * Map of strings from keys and values in turn. As far as they are those of the last pairs, from
   * the first on, they cost a copy only: rows of one origin begin alike.
   */
  pairs(keysAndValues: readonly (string | Uint8Array)[]): void {
    const { length } = keysAndValues
    if (length % 2 !== 0) throw new TypeError(`got ${length} keys and values, expected pairs`)
    this.varint(length / 2)
    if (length === 0) return
    const start = this.position
    const repeated = this.repeatedPairs(keysAndValues)
    // Until all are written, should one not fit.
    this.pairTexts = []
    for (let index = repeated; index < length; index++) {
      this.text(keysAndValues[index] ?? '')
      if (index < repeatedTexts_max) this.pairEnds[index] = this.position - start
    }
    this.pairTexts = keysAndValues
    this.pairsAt = start
  }

  /** Copies the texts that are those of the last pairs; returns how many they are. */
  private repeatedPairs(keysAndValues: readonly (string | Uint8Array)[]): number {
    const { pairTexts, pairsAt } = this
    const most = Math.min(pairTexts.length, keysAndValues.length, repeatedTexts_max)
    let repeated = 0
    while (repeated < most && pairTexts[repeated] === keysAndValues[repeated]) repeated++
    if (repeated === 0) return 0
    const size_bytes = this.pairEnds[repeated - 1] ?? 0
    this.reserve(size_bytes)
    this.bytes.copyWithin(this.position, pairsAt, pairsAt + size_bytes)
    this.position += size_bytes
    return repeated
  }

  private longString(value: string): void {
    if (this.position + value.length * bytesPerChar_max + number_bytes_max > this.bytes.length) {
      this.reserve(Buffer.byteLength(value) + number_bytes_max)
    }
    const head = varintSize(value.length)
    const from = this.position + head
    const written = this.bytes.write(value, from)
    const headNeeded = varintSize(written)
    if (headNeeded !== head) {
      this.bytes.copyWithin(this.position + headNeeded, from, from + written)
    }
    this.position = putVarint(this.bytes, this.position, written) + written
  }

  private shortAscii(value: string): boolean {
    const { bytes } = this
    const start = this.position + 1
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + index] = code
    }
    bytes[this.position] = value.length
    this.position = start + value.length
    return true
  }

  private reserve(more_bytes: number): void {
    if (this.position + more_bytes > this.bytes.length) this.grow(this.position + more_bytes)
  }

  private grow(needed_bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed_bytes, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.position))
    this.bytes = grown
    this.view = viewOf(grown)
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}
