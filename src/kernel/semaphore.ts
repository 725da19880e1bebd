export type SemaphoreOptions = {
  /** Maximum permits held at one time, at least 1. */
  permits_max: number
  /** Maximum waiting callers. Without it, the number of callers must be bounded elsewhere. */
  waiting?: { max: number; refusal: () => Error }
}

/** A counting semaphore. Callers wait for a free permit and get permits in order of arrival. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting: (() => void)[] = []
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  get held(): number {
    return this.#held
  }

  /** Runs the work with a permit. The work begins synchronously when a permit is free. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.tryAcquire()) await this.acquire(signal)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /** Takes a permit if one is free. Returns whether it took one. */
  tryAcquire(): boolean {
    if (this.#held >= this.#options.permits_max) return false
    this.#held += 1
    return true
  }

  /**
   * Takes a permit, or waits for one. Rejects with `refusal` when too many callers wait, and with
   * the signal's reason when it aborts the wait. Takes a free permit even if the signal has
   * aborted.
   */
  acquire(signal?: AbortSignal): Promise<void> {
    if (this.tryAcquire()) return Promise.resolve()
    const { waiting } = this.#options
    if (waiting !== undefined && this.#waiting.length >= waiting.max) {
      return Promise.reject(waiting.refusal())
    }
    // Without a signal, a waiter is its `resolve` alone: the queue's publisher is a hot path.
    if (signal === undefined) return new Promise((resolve) => this.#waiting.push(resolve))
    return signal.aborted ? Promise.reject(signal.reason) : this.#wait(signal)
  }

  /** Returns a permit. The first waiting caller gets it, and `held` does not change then. */
  release(): void {
    if (this.#held === 0) throw new Error('a permit was released that was not held')
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held -= 1
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1)
        reject(signal.reason)
      }
      this.#waiting.push(grant)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
