/** Up to so many characters a loop over char codes is quicker than a call into the runtime. */
const loopChars_max = 24
const bytesPerChar_max = 3

/** One buffer that grows; numbers are little-endian, as ClickHouse wants them. */
export class ByteWriter {
  private bytes: Buffer
  private at = 0

  constructor(size_bytes: number) {
    this.bytes = Buffer.allocUnsafe(Math.max(size_bytes, 256))
  }

  u8(value: number): void {
    this.reserve(1)
    this.at = this.bytes.writeUInt8(value, this.at)
  }

  u16(value: number): void {
    this.reserve(2)
    this.at = this.bytes.writeUInt16LE(value, this.at)
  }

  u32(value: number): void {
    this.reserve(4)
    this.at = this.bytes.writeUInt32LE(value, this.at)
  }

  /** A whole number of 0 to 2^53 without the cost of a bigint. */
  u53(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no UInt64`)
    this.reserve(8)
    const high = Math.floor(value / 2 ** 32)
    this.at = this.bytes.writeUInt32LE(value - high * 2 ** 32, this.at)
    this.at = this.bytes.writeUInt32LE(high, this.at)
  }

  u64(value: bigint): void {
    this.reserve(8)
    this.at = this.bytes.writeBigUInt64LE(value, this.at)
  }

  i64(value: bigint): void {
    this.reserve(8)
    this.at = this.bytes.writeBigInt64LE(value, this.at)
  }

  f64(value: number): void {
    this.reserve(8)
    this.at = this.bytes.writeDoubleLE(value, this.at)
  }

  /** LEB128, as ClickHouse writes lengths. */
  varint(value: number): void {
    this.reserve(5)
    this.at = putVarint(this.bytes, this.at, value)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
  }

  /** Length in bytes, then UTF-8; a lone surrogate becomes U+FFFD. */
  string(value: string): void {
    this.reserve(value.length * bytesPerChar_max + 5)
    if (value.length <= loopChars_max && this.shortAscii(value)) return
    const head = varintSize(value.length)
    const written = this.bytes.write(value, this.at + head, 'utf8')
    const headNeeded = varintSize(written)
    if (headNeeded !== head) {
      const from = this.at + head
      this.bytes.copyWithin(this.at + headNeeded, from, from + written)
    }
    this.at = putVarint(this.bytes, this.at, written) + written
  }

  /** What was written; the writer must not be used after. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.at)
  }

  private shortAscii(value: string): boolean {
    const { bytes } = this
    const start = this.at + 1
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + index] = code
    }
    bytes[this.at] = value.length
    this.at = start + value.length
    return true
  }

  private reserve(more_bytes: number): void {
    const needed = this.at + more_bytes
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
  }
}

function varintSize(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let position = at
  while (rest >= 0x80) {
    bytes[position++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
  }
  bytes[position++] = rest
  return position
}
