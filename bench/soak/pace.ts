/** Runs an action so many times a second, whatever its answers; at most `running_max` at once. */
export class Pace {
  done = 0
  failed = 0
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #begun = 0

  constructor(per_s: number, act: (count: number) => Promise<unknown>, running_max = 32) {
    const start_ms = performance.now()
    this.#timer = setInterval(() => {
      const due = ((performance.now() - start_ms) * per_s) / 1000
      while (this.#begun < due) {
        this.#begun += 1
        // What is late by more than that is left out, not caught up with.
        if (this.#running.size < running_max) this.#run(act(this.#begun))
      }
    }, 20)
  }

  #run(answer: Promise<unknown>): void {
    const one: Promise<void> = answer
      .then(
        () => {
          this.done += 1
        },
        (error: unknown) => {
          this.failed += 1
          console.error(error instanceof Error ? error.message : error)
        },
      )
      .finally(() => this.#running.delete(one))
    this.#running.add(one)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#running)
  }
}
