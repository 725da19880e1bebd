import { randomFillSync } from 'node:crypto'

/** Random bytes are drawn from the system this many at a time: single draws cost 2 µs a call. */
const pool_bytes = 4_096

const hexOf: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

/** Makes the ids of calls; the same shapes as `newId` and `newObservationId` of the kernel. */
export type CallIds = {
  /** A UUIDv7 (RFC 9562) of this instant. */
  uuid(now_ms: number): string
  /** A span id: 16 hex digits, never all zero. */
  observationId(): string
}

/** Ids from a pool of random bytes, each byte used once. */
export function createCallIds(fill: (pool: Uint8Array) => void = randomFillSync): CallIds {
  const pool = new Uint8Array(pool_bytes)
  let at = pool.length
  const hex = (bytes: number): string => {
    if (at + bytes > pool.length) {
      fill(pool)
      at = 0
    }
    let text = ''
    for (const end = at + bytes; at < end; at += 1) text += hexOf[pool[at] ?? 0]
    return text
  }
  const observationId = (): string => {
    const id = hex(8)
    return id === '0000000000000000' ? observationId() : id
  }
  return { uuid: (now_ms) => uuidV7(now_ms, hex(10)), observationId }
}

/** `random` is 20 hex digits, of which 74 bits are used. */
function uuidV7(now_ms: number, random: string): string {
  const time = now_ms.toString(16).padStart(12, '0')
  const variant = '89ab'[Number.parseInt(random[3] ?? '0', 16) & 3]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}
