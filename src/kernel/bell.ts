import { sleep } from './time.ts'

/** Between two waits that a ring ended: many rings at once are one. */
const gather_ms = 50

/** Rings of the future that a bell keeps; further ones are left to the poll. */
const rings_max = 1_000

/**
 * Wakes a loop that otherwise polls. A ring that comes while the loop works is not lost: it ends the
 * next wait at once.
 */
export class Bell {
  readonly #timers = new Map<number, NodeJS.Timeout>()
  #isRung = false
  #waiting: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#waiting?.()
  }

  /** Rings after a delay. Delays that end within the same 50 ms are one ring. */
  ringAfter(delay_ms: number): void {
    if (delay_ms <= 0) {
      this.ring()
      return
    }
    const at = Math.ceil((performance.now() + delay_ms) / gather_ms)
    if (this.#timers.has(at) || this.#timers.size >= rings_max) return
    const ring = () => {
      this.#timers.delete(at)
      this.ring()
    }
    this.#timers.set(at, setTimeout(ring, at * gather_ms - performance.now()).unref())
  }

  /** Resolves after the duration, at a ring, or when the signal aborts. */
  async wait(duration_ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung) {
      const rung = new AbortController()
      this.#waiting = () => rung.abort()
      await sleep(duration_ms, AbortSignal.any([rung.signal, signal]))
      this.#waiting = undefined
    }
    if (this.#isRung) await sleep(Math.min(gather_ms, duration_ms), signal)
    this.#isRung = false
  }

  /** Forgets the rings of the future. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
