/** Buffers kept for the next frames; more are left to the garbage collector. */
const freeBuffers_max = 16

/** Buffers of one size that are used again: to allocate one costs more than to fill it. */
export class FramePool {
  readonly frame_bytes: number
  readonly #free: Buffer[] = []

  constructor(frame_bytes: number) {
    this.frame_bytes = frame_bytes
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.frame_bytes)
  }

  give(buffer: Buffer): void {
    if (this.#free.length < freeBuffers_max) this.#free.push(buffer)
  }
}
