import { randomFillSync } from 'node:crypto'

/** Random bytes fetched from the system at once: single draws cost 2 µs a call. */
const pool_bytes = 4_096

/** A generator of ids for calls, in the formats of `newId` and `newObservationId` of the kernel. */
export type CallIds = {
  /** Returns a UUIDv7 (RFC 9562) of this instant. */
  uuid(now_ms: number): string
  /** Returns a span id: 16 hex digits, never all zero. */
  observationId(): string
}

/**
 * Makes ids from a pool of random bytes; each byte is used once. The text is built in a buffer,
 * because a string built by concatenation costs another microsecond in JSON.stringify.
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

/** Writes the 48-bit timestamp at the start of a UUIDv7. */
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

/** Writes a byte as two hex digits. Returns the byte. */
function writeHex(text: Buffer, at: number, byte: number): number {
  text[at] = digits[byte >>> 4] ?? 0
  text[at + 1] = digits[byte & 0x0f] ?? 0
  return byte
}
