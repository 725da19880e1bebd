import { decimalTicks, fewTicks, putUuid, putVarint, varintSize } from './scalar-formats.ts'

/** Up to this length, a loop over char codes is faster than a call into the runtime. */
const maxLoopChars = 64
const maxBytesPerChar = 3
/** Maximum texts of a map that are compared with the previous map. */
const maxRepeatedTexts = 64
/** Maximum size of a number or of the length of a text. */
const number_bytes_max = 8

/**
 * Writes values in ClickHouse's format RowBinary to a buffer that grows. Numbers are little-endian.
 * Methods throw TypeError or RangeError for a value that does not fit, possibly after writing a
 * part of it, which `rewind` undoes. Format:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export class ByteWriter {
  private bytes: Buffer
  private view: DataView
  private position: number
  private uuidText = ''
  private readonly uuidBytes = Buffer.alloc(16)
  /** The last written pairs, their start offset, and the end offset of each of their texts. */
  private pairTexts: readonly (string | Uint8Array)[] = []
  private pairsAt = 0
  private readonly pairEnds = new Int32Array(maxRepeatedTexts)

  /** Starts at offset `at` of the buffer, which is replaced when it becomes too small. */
  constructor(buffer: Buffer, at = 0) {
    this.bytes = buffer
    this.view = viewOf(buffer)
    this.position = at
  }

  /** Offset for the next value. */
  get at(): number {
    return this.position
  }

  /** The current buffer. Changes when it grows. */
  get buffer(): Buffer {
    return this.bytes
  }

  /** Returns the written bytes, as a view of the buffer. */
  written(): Buffer {
    return this.bytes.subarray(0, this.position)
  }

  /** Discards everything after offset `at`. */
  rewind(at: number): void {
    this.position = Math.min(at, this.position)
    this.pairTexts = []
  }

  /** Continues in another buffer at offset `at`. */
  moveTo(buffer: Buffer, at: number): void {
    this.bytes = buffer
    this.view = viewOf(buffer)
    this.position = at
    this.pairTexts = []
  }

  /** Reserves space for a number that is written later (`putU8`, `putU32`). Returns its offset. */
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
    if (value < 0 || value > 0xff) throw new RangeError(`${value} is not a UInt8`)
    this.bytes[this.position++] = value
  }

  bool(value: boolean): void {
    this.reserve(1)
    this.bytes[this.position++] = value ? 1 : 0
  }

  u16(value: number): void {
    this.reserve(2)
    if (value < 0 || value > 0xffff) throw new RangeError(`${value} is not a UInt16`)
    this.view.setUint16(this.position, value, true)
    this.position += 2
  }

  u32(value: number): void {
    this.reserve(4)
    if (value !== value >>> 0) throw new RangeError(`${value} is not a UInt32`)
    this.view.setUint32(this.position, value, true)
    this.position += 4
  }

  /** Writes a whole number from 0 to 2^53 without a bigint. */
  u53(value: number): void {
    this.reserve(8)
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a UInt64`)
    this.view.setUint32(this.position, value % 2 ** 32, true)
    this.view.setUint32(this.position + 4, value / 2 ** 32, true)
    this.position += 8
  }

  /** Writes a Nullable(UInt64). */
  u53OrNull(value: number | null): void {
    this.bool(value === null)
    if (value !== null) this.u53(value)
  }

  u64(value: bigint): void {
    this.reserve(8)
    if (value < 0n || value >= 2n ** 64n) throw new RangeError(`${value} is not a UInt64`)
    this.view.setBigUint64(this.position, value, true)
    this.position += 8
  }

  i64(value: bigint): void {
    this.reserve(8)
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} is not an Int64`)
    this.view.setBigInt64(this.position, value, true)
    this.position += 8
  }

  f64(value: number): void {
    this.reserve(8)
    this.view.setFloat64(this.position, value, true)
    this.position += 8
  }

  /** Writes a Nullable(Float64). */
  f64OrNull(value: number | null): void {
    this.bool(value === null)
    if (value !== null) this.f64(value)
  }

  /** Writes a Nullable(Decimal(18, 9)) from decimal text. */
  decimal9OrNull(value: string | null): void {
    this.bool(value === null)
    if (value === null) return
    const ticks = fewTicks(value)
    if (ticks < 0) this.i64(decimalTicks(value, 18, 9))
    else this.u53(ticks)
  }

  /** Writes a length in LEB128, as ClickHouse does. */
  varint(value: number): void {
    this.reserve(number_bytes_max)
    this.position = putVarint(this.bytes, this.position, value)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  /** Writes a UUID. A repetition of the last UUID only costs a copy. */
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

  /** Writes a String: its length in bytes, then the bytes. */
  text(value: string | Uint8Array): void {
    if (typeof value === 'string') this.string(value)
    else {
      this.varint(value.length)
      this.raw(value)
    }
  }

  /** Writes a String in UTF-8. A lone surrogate becomes U+FFFD. */
  string(value: string): void {
    if (value.length > maxLoopChars) this.longString(value)
    else {
      this.reserve(maxLoopChars * maxBytesPerChar + number_bytes_max)
      if (!this.shortAscii(value)) this.longString(value)
    }
  }

  /**
   * Writes a map of strings from alternating keys and values. A common prefix with the last map
   * only costs a copy: rows of one origin start with the same pairs.
   */
  pairs(keysAndValues: readonly (string | Uint8Array)[]): void {
    const { length } = keysAndValues
    if (length % 2 !== 0) throw new TypeError(`got ${length} keys and values, expected pairs`)
    this.varint(length / 2)
    if (length === 0) return
    const start = this.position
    const repeated = this.repeatedPairs(keysAndValues)
    // Invalid until all pairs are written, because one may not fit.
    this.pairTexts = []
    for (let index = repeated; index < length; index++) {
      this.text(keysAndValues[index] ?? '')
      if (index < maxRepeatedTexts) this.pairEnds[index] = this.position - start
    }
    this.pairTexts = keysAndValues
    this.pairsAt = start
  }

  /** Copies the texts in common with the last pairs. Returns their number. */
  private repeatedPairs(keysAndValues: readonly (string | Uint8Array)[]): number {
    const { pairTexts, pairsAt } = this
    const most = Math.min(pairTexts.length, keysAndValues.length, maxRepeatedTexts)
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
    if (this.position + value.length * maxBytesPerChar + number_bytes_max > this.bytes.length) {
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
