import { OtlpDecodeError } from '../../contract.ts'
import type { Tally } from '../tally.ts'
import type { TextCaches } from './text-cache.ts'

/** Maximum nesting of groups (a feature of proto2) in unknown fields. */
const groupLevels = 32
const varintBytes = 10
const fieldMax = 2 ** 29 - 1

/**
 * Reads protobuf's wire format from a body, never beyond the end of the current message. `field`
 * and `message` are names for OtlpDecodeError, which says where and what was expected.
 */
export class WireReader {
  readonly bytes: Buffer
  readonly view: DataView
  readonly tally: Tally
  readonly caches: TextCaches
  /** Offset of the next byte to read. */
  position = 0
  /** End of the current message. */
  end: number
  /** The upper 32 bits of the last varint. */
  high = 0
  /** The fault of the last id, if it was invalid. */
  idFault = ''

  constructor(bytes: Buffer, tally: Tally, caches: TextCaches) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.tally = tally
    this.caches = caches
    this.end = bytes.length
  }

  /** Returns field number × 8 + wire type. `position` must be before `end`. */
  tag(message: string): number {
    const byte = this.bytes[this.position] as number
    if (byte < 0x80 && byte >= 8) {
      this.position++
      return byte
    }
    return this.longTag(message)
  }

  /** Enters a message. Returns the end of the outer message, for `leave`. */
  enter(field: string): number {
    const around = this.end
    this.end = this.until(field)
    return around
  }

  leave(around: number): void {
    this.position = this.end
    this.end = around
  }

  /** Reads the length of a field. Returns the end of its content, which starts at `position`. */
  until(field: string): number {
    const length = this.varint(field)
    const left = this.end - this.position
    if (this.high === 0 && length <= left) return this.position + length
    const shownLength = this.high === 0 ? length : 'more than 4294967295'
    throw this.fault(field, `the length is ${shownLength} bytes, but the message has ${left} left`)
  }

  /** Returns the lower 32 bits of a varint as an unsigned number; `high` has the upper ones. */
  varint(field: string): number {
    if (this.position < this.end) {
      const byte = this.bytes[this.position] as number
      if (byte < 0x80) {
        this.position++
        this.high = 0
        return byte
      }
    }
    return this.longVarint(field)
  }

  /** Reads a signed 64-bit integer, as a number while that is exact. */
  int64(field: string): number | bigint {
    const low = this.varint(field)
    if (this.high === 0) return low
    const high = this.high | 0
    const value = high * 0x1_0000_0000 + low
    if (Number.isSafeInteger(value)) return value
    return (BigInt(high) << 32n) | BigInt(low)
  }

  bool(field: string): boolean {
    return this.varint(field) !== 0 || this.high !== 0
  }

  fixed64(field: string): bigint {
    const at = this.forward(8, field)
    return this.view.getBigUint64(at, true)
  }

  fixed32(field: string): number {
    const at = this.forward(4, field)
    return this.view.getUint32(at, true)
  }

  double(field: string): number {
    const at = this.forward(8, field)
    return this.view.getFloat64(at, true)
  }

  /**
   * Skips a field that the caller does not read. `known` has a bit for each field number that it
   * does read; such a field comes here only with a wrong wire type.
   */
  skip(tag: number, message: string, known: number): void {
    const field = tag >>> 3
    if (field < 32 && ((known >>> field) & 1) === 1) {
      throw this.fault(`${message} field ${field}`, `wire type ${tag & 7} does not fit the field`)
    }
    if ((tag & 7) === 3) this.skipGroup(field, message)
    else this.skipContent(tag & 7, message)
  }

  fault(where: string, what: string): OtlpDecodeError {
    return new OtlpDecodeError(`${where} at byte ${this.position}: ${what}`)
  }

  private forward(bytes: number, field: string): number {
    const at = this.position
    if (this.end - at < bytes) {
      throw this.fault(field, `expected ${bytes} bytes, but the message has ${this.end - at} left`)
    }
    this.position = at + bytes
    return at
  }

  private longTag(message: string): number {
    const tag = this.varint(message)
    const field = tag >>> 3
    if (this.high === 0 && field > 0 && field <= fieldMax) return tag
    throw this.fault(message, `expected a field number from 1 to ${fieldMax}`)
  }

  private longVarint(field: string): number {
    let low = 0
    let high = 0
    for (let i = 0; i < varintBytes; i++) {
      if (this.position + i >= this.end) throw this.fault(field, 'the varint is incomplete')
      const byte = this.bytes[this.position + i] as number
      const bits = byte & 0x7f
      if (i < 5) low |= bits << (i * 7)
      if (i === 4) high = bits >>> 4
      if (i > 4) high |= bits << (i * 7 - 32)
      if (byte < 0x80) {
        if (i === varintBytes - 1 && bits > 1) break
        this.position += i + 1
        this.high = high >>> 0
        return low >>> 0
      }
    }
    throw this.fault(field, 'expected a varint of at most 64 bits in 10 bytes')
  }

  private skipGroup(first: number, message: string): void {
    const open = [first]
    while (open.length > 0) {
      if (this.position >= this.end) throw this.fault(message, `group ${open.at(-1)} does not end`)
      const tag = this.tag(message)
      const type = tag & 7
      if (type === 3) open.push(tag >>> 3)
      if (open.length > groupLevels)
        throw this.fault(message, `more than ${groupLevels} nested groups`)
      if (type === 4 && open.pop() !== tag >>> 3)
        throw this.fault(message, 'the end of another group')
      if (type !== 3 && type !== 4) this.skipContent(type, message)
    }
  }

  private skipContent(type: number, message: string): void {
    if (type === 0) this.varint(message)
    else if (type === 1) this.forward(8, message)
    else if (type === 2) this.position = this.until(message)
    else if (type === 5) this.forward(4, message)
    else throw this.fault(message, `expected wire type 0, 1, 2, 3 or 5, got ${type}`)
  }
}
