const defaultFree_max = 16

/** Buffers of one size that are used again: to allocate one costs more than to fill it. */
export class FramePool {
  readonly frame_bytes: number
  readonly #free: Buffer[] = []
  readonly #free_max: number

  /** `free_max` buffers are kept for the next frames; more are left to the garbage collector. */
  constructor(frame_bytes: number, free_max = defaultFree_max) {
    this.frame_bytes = frame_bytes
    this.#free_max = free_max
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.frame_bytes)
  }

  give(buffer: Buffer): void {
    if (this.#free.length < this.#free_max) this.#free.push(buffer)
  }
}
