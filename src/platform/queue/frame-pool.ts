const defaultFree_max = 16

/** A pool of equal buffers, because allocating a buffer costs more than filling it. */
export class FramePool {
  readonly frame_bytes: number
  readonly #free: Buffer[] = []
  readonly #free_max: number

  /** Keeps up to `free_max` unused buffers. */
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
