import { type Problem, problem } from '../../../../kernel/problem.ts'
import { type BodyBuffers, createBodyBuffers } from './body-buffers.ts'

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
