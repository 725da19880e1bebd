/** Smaller bodies are allocated as they come: to keep them would save nothing. */
const kept_bytes_min = 1024 * 1024
/** Sizes are rounded up to this, so that bodies of about the same size fit the same buffer. */
const step_bytes = 4 * 1024 * 1024

/**
 * Buffers for the bodies of inserts, used again: each is tens of megabytes, and the system takes
 * longer to find fresh memory for them than we take to fill it. Keeps `kept_max` of them.
 */
export class BodyBuffers {
  readonly #kept_max: number
  readonly #kept: ArrayBuffer[] = []

  constructor(kept_max: number) {
    this.#kept_max = kept_max
  }

  /** A body of that size; what is in it is left over from others. */
  take(size_bytes: number): Buffer {
    if (size_bytes < kept_bytes_min) return Buffer.allocUnsafe(size_bytes)
    const at = this.#kept.findIndex(({ byteLength }) => byteLength >= size_bytes)
    const [found] = this.#kept.splice(Math.max(0, at), 1)
    // One that is too small makes room for a larger one, or none would ever fit.
    const kept = at < 0 ? undefined : found
    const fresh = () => new ArrayBuffer(Math.ceil(size_bytes / step_bytes) * step_bytes)
    return Buffer.from(kept ?? fresh(), 0, size_bytes)
  }

  /** Takes a body back that nobody reads any more. One that is not given back is no loss. */
  give({ buffer }: Buffer): void {
    const isOurs = buffer instanceof ArrayBuffer && buffer.byteLength >= kept_bytes_min
    if (isOurs && this.#kept.length < this.#kept_max) this.#kept.push(buffer)
  }
}
