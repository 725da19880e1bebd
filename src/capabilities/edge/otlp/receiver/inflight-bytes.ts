import { type Problem, problem } from '../../../../kernel/problem.ts'

/** The bytes of all held requests, and their limit. */
export type InflightBytes = {
  /** Holds more bytes. Returns false, holding nothing, when they exceed the limit. */
  take(bytes: number): boolean
  give(bytes: number): void
  readonly held_bytes: number
  readonly buffers: BodyBuffers
}

/** Free buffers kept for later bodies, enough for a few concurrent requests. */
const maxFreeBuffersBytes = 32 * 1024 * 1024
/** A shorter body is joined in a new buffer. */
const minPooledBodyBytes = 64 * 1024

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
    buffers: createBodyBuffers(maxFreeBuffersBytes),
  }
}

/** The bytes held by one request. */
export class BodyBytes {
  readonly #inflight: InflightBytes
  #held = 0
  #buffers: Buffer[] = []

  constructor(inflight: InflightBytes) {
    this.#inflight = inflight
  }

  /** Holds more bytes. Throws `overloaded` when they exceed the limit; earlier bytes stay held. */
  take(bytes: number): void {
    if (!this.#inflight.take(bytes)) throw overloaded()
    this.#held += bytes
  }

  /** Joins the pieces of a body, which must not be read after the release. */
  joined(pieces: readonly Buffer[], length: number): Buffer {
    const [only] = pieces
    if (pieces.length === 1 && only) return only
    if (length < minPooledBodyBytes) return Buffer.concat(pieces, length)
    const buffer = this.#inflight.buffers.take(length)
    this.#buffers.push(buffer)
    let at = 0
    for (const piece of pieces) {
      buffer.set(piece, at)
      at += piece.length
    }
    return buffer.subarray(0, length)
  }

  /** Releases everything; further calls do nothing. */
  release(): void {
    this.#inflight.give(this.#held)
    this.#held = 0
    for (const buffer of this.#buffers.splice(0)) this.#inflight.buffers.give(buffer)
  }
}

/** Returns the refusal of a request that exceeds the limit on held bytes. */
export function overloaded(): Problem {
  const detail = 'too many export requests are in flight; try again'
  return problem('overloaded', { detail, retry_after_s: 1 })
}

/**
 * Returns the refusal of a body that is, is declared to be, or decompresses to more than
 * `bytes_max`.
 */
export function tooLarge(bytes_max: number): Problem {
  const detail = `the request is longer than ${bytes_max} bytes, compressed or decompressed`
  return problem('body_too_large', { detail })
}

/**
 * Reuses the buffers in which bodies are joined. A new megabyte for each request costs more, in
 * fresh pages and garbage collection, than filling it. At most `free_bytes_max` are kept free.
 */
type BodyBuffers = {
  /** Returns a buffer of at least `length` bytes with arbitrary content. */
  take(length: number): Buffer
  /** Takes back a buffer, which must not be read afterwards. */
  give(buffer: Buffer): void
}

const smallest_bytes = 128 * 1024
const largest_bytes = 8 * 1024 * 1024

/**
 * Makes buffers with sizes in powers of two; a body beyond the largest size gets a buffer of its
 * own.
 */
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
