import { randomFillSync } from 'node:crypto'

/** Random bytes are drawn from the system this many at a time: single draws cost 2 µs a call. */
const pool_bytes = 4_096

/** Makes the ids of calls; the same shapes as `newId` and `newObservationId` of the kernel. */
export type CallIds = {
  /** A UUIDv7 (RFC 9562) of this instant. */
  uuid(now_ms: number): string
  /** A span id: 16 hex digits, never all zero. */
  observationId(): string
}

/**
 * Ids from a pool of random bytes, each byte used once. The text is written into a buffer first: a
 * string put together of pieces stays in pieces, and costs a microsecond when it is made JSON.
 */
export function createCallIds(fill: (pool: Uint8Array) => void = randomFillSync): CallIds {
  const pool = new Uint8Array(pool_bytes)
  let at = pool.length
  const uuid = Buffer.from('00000000-0000-7000-8000-000000000000')
  const id = Buffer.alloc(16)
  const random = (): number => pool[at++] ?? 0
  const need = (bytes: number): void => {
    if (at + bytes <= pool.length) return
    fill(pool)
    at = 0
  }
  const observationId = (): string => {
    need(8)
    let sum = 0
    for (let place = 0; place < 16; place += 2) sum += writeHex(id, place, random())
    return sum === 0 ? observationId() : id.toString('latin1')
  }
  return {
    uuid: (now_ms) => {
      need(10)
      writeTime(uuid, now_ms)
      writeHex(uuid, 14, 0x70 | (random() & 0x0f))
      writeHex(uuid, 16, random())
      writeHex(uuid, 19, 0x80 | (random() & 0x3f))
      writeHex(uuid, 21, random())
      for (let place = 24; place < 36; place += 2) writeHex(uuid, place, random())
      return uuid.toString('latin1')
    },
    observationId,
  }
}

/** Milliseconds as the 48 bits that a UUIDv7 begins with. */
function writeTime(uuid: Buffer, now_ms: number): void {
  const high = Math.floor(now_ms / 0x1_0000)
  writeHex(uuid, 0, (high >>> 24) & 0xff)
  writeHex(uuid, 2, (high >>> 16) & 0xff)
  writeHex(uuid, 4, (high >>> 8) & 0xff)
  writeHex(uuid, 6, high & 0xff)
  const low = now_ms - high * 0x1_0000
  writeHex(uuid, 9, (low >>> 8) & 0xff)
  writeHex(uuid, 11, low & 0xff)
}

const digits = Buffer.from('0123456789abcdef')

/** Writes a byte as two digits. Returns the byte. */
function writeHex(text: Buffer, at: number, byte: number): number {
  text[at] = digits[byte >>> 4] ?? 0
  text[at + 1] = digits[byte & 0x0f] ?? 0
  return byte
}
