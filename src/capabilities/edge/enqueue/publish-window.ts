export type WindowLimits = { messages_max: number; bytes_max: number }

/**
 * Bounds the publishes in flight. Who would fill another frame waits for room first, in the order
 * of asking. Frames that are open when the window gets full may still be published.
 */
export class PublishWindow {
  readonly #limits: WindowLimits
  readonly #waiting: (() => void)[] = []
  #messages = 0
  #bytes = 0

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  get isFull(): boolean {
    return this.#messages >= this.#limits.messages_max || this.#bytes >= this.#limits.bytes_max
  }

  /** True when one that comes now has to wait. */
  get isBusy(): boolean {
    return this.isFull || this.#waiting.length > 0
  }

  add(bytes: number): void {
    this.#messages += 1
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#messages -= 1
    this.#bytes -= bytes
    this.pass()
  }

  /** Resolves when it is the caller's turn; it calls `pass` when it needs no more room. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.pass()
    })
  }

  /** Wakes the next one when there is room. */
  pass(): void {
    if (!this.isFull) this.#waiting.shift()?.()
  }
}
