import { type Problem, problem } from '../../../../kernel/problem.ts'

/** The bytes of all requests that are held at one time, and their bound. */
export type InflightBytes = {
  /** True when so many more may be held; then they count as held. */
  take(bytes: number): boolean
  give(bytes: number): void
  readonly held_bytes: number
  readonly buffers: BodyBuffers
}

/** Kept for the bodies that come next: of a few requests at a time. */
const freeBuffers_bytes_max = 32 * 1024 * 1024
/** Shorter bodies of several pieces are copied as they are. */
const pooledBody_bytes_min = 64 * 1024

export function createInflightBytes(bytes_max: number): InflightBytes {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > bytes_max) return false
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
    },
    get held_bytes() {
      return held
    },
    buffers: createBodyBuffers(freeBuffers_bytes_max),
  }
}

/** What one request holds. */
export class BodyBytes {
  readonly #inflight: InflightBytes
  #held = 0
  #buffers: Buffer[] = []

  constructor(inflight: InflightBytes) {
    this.#inflight = inflight
  }

  /** Throws `overloaded` when there is no room; what was taken before stays taken. */
  take(bytes: number): void {
    if (!this.#inflight.take(bytes)) throw overloaded()
    this.#held += bytes
  }

  /** The pieces as one body, which nobody may look at after the release. */
  joined(pieces: readonly Buffer[], length: number): Buffer {
    const [only] = pieces
    if (pieces.length === 1 && only) return only
    if (length < pooledBody_bytes_min) return Buffer.concat(pieces, length)
    const buffer = this.#inflight.buffers.take(length)
    this.#buffers.push(buffer)
    let at = 0
    for (const piece of pieces) {
      buffer.set(piece, at)
      at += piece.length
    }
    return buffer.subarray(0, length)
  }

  /** Gives everything back; once is enough. */
  release(): void {
    this.#inflight.give(this.#held)
    this.#held = 0
    for (const buffer of this.#buffers.splice(0)) this.#inflight.buffers.give(buffer)
  }
}

/** The refusal of what there is no room for. */
export function overloaded(): Problem {
  const detail = 'too many export requests are in flight; send it again'
  return problem('overloaded', { detail, retry_after_s: 1 })
}

/** The refusal of a body that is, is declared to be, or unpacks to more than `bytes_max`. */
export function tooLarge(bytes_max: number): Problem {
  const detail = `the request is longer than ${bytes_max} bytes, packed or unpacked`
  return problem('body_too_large', { detail })
}

/**
 * Buffers in which bodies are joined, used again: a new one of a megabyte for each request costs
 * more, in fresh pages and in work of the garbage collector, than to fill it. Kept for the next
 * bodies are at most `free_bytes_max`.
 */
type BodyBuffers = {
  /** A buffer of at least `length` bytes; of what is in it nothing is known. */
  take(length: number): Buffer
  /** Nobody may look at a buffer that was given back. */
  give(buffer: Buffer): void
}

const smallest_bytes = 128 * 1024
const largest_bytes = 8 * 1024 * 1024

/** Sizes are powers of two; a body beyond the largest one gets a buffer of its own. */
export function createBodyBuffers(free_bytes_max: number): BodyBuffers {
  const free = new Map<number, Buffer[]>()
  let free_bytes = 0
  return {
    take(length) {
      if (length > largest_bytes) return Buffer.allocUnsafeSlow(length)
      const size_bytes = sizeFor(length)
      const buffer = free.get(size_bytes)?.pop()
      if (buffer === undefined) return Buffer.allocUnsafeSlow(size_bytes)
      free_bytes -= size_bytes
      return buffer
    },
    give(buffer) {
      const size_bytes = buffer.length
      if (size_bytes > largest_bytes || free_bytes + size_bytes > free_bytes_max) return
      const alike = free.get(size_bytes)
      if (alike === undefined) free.set(size_bytes, [buffer])
      else alike.push(buffer)
      free_bytes += size_bytes
    },
  }
}

function sizeFor(length: number): number {
  let size_bytes = smallest_bytes
  while (size_bytes < length) size_bytes *= 2
  return size_bytes
}
