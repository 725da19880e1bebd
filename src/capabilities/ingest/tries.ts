/** Messages whose tries are remembered; above, those that failed longest ago begin anew. */
const messages_max = 10_000

/**
 * Counts the failed tries of messages in this process. Deliveries can not stand for them: an outage
 * of a store costs deliveries too, and is nothing that a message did.
 */
export class Tries {
  readonly #failed = new Map<string, number>()

  /** How often writing this message has failed. */
  of(message_id: string): number {
    return this.#failed.get(message_id) ?? 0
  }

  failed(message_id: string): void {
    const failed = this.of(message_id) + 1
    this.#failed.delete(message_id)
    this.#failed.set(message_id, failed)
    if (this.#failed.size <= messages_max) return
    for (const oldest of this.#failed.keys()) {
      this.#failed.delete(oldest)
      return
    }
  }

  settled(message_id: string): void {
    this.#failed.delete(message_id)
  }
}
