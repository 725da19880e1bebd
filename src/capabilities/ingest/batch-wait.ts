/** Rows of a batch from which the next one waits the longest. */
const rows_full = 1_000
/** A busy worker waits up to this many times as long as an idle one. */
const factor_max = 4

/** How long a batch waits for more messages: longer under load, because few large inserts cost least. */
export class BatchWait {
  readonly #idle_ms: number
  #rows = 0

  /** `idle_ms` is the wait of a worker without load. */
  constructor(idle_ms: number) {
    this.#idle_ms = idle_ms
  }

  /** The wait of the next batch: it grows with the rows of the last one, up to four times. */
  get ms(): number {
    return this.#idle_ms * (1 + (factor_max - 1) * Math.min(1, this.#rows / rows_full))
  }

  /** Notes the rows of a batch. */
  note(rows: number): void {
    this.#rows = rows
  }
}
