import { BoundedCache } from '../../kernel/bounded-cache.ts'

/** Messages whose tries are remembered; above, those that failed longest ago begin anew. */
const messages_max = 10_000

/**
 * Counts the failed tries of messages in this process. Deliveries can not stand for them: an outage
 * of a store costs deliveries too, and is nothing that a message did.
 */
export class Tries {
  readonly #failed = new BoundedCache<string, number>(messages_max)

  /** How often writing this message has failed. */
  of(message_id: string): number {
    return this.#failed.get(message_id) ?? 0
  }

  failed(message_id: string): void {
    this.#failed.set(message_id, this.of(message_id) + 1)
  }

  settled(message_id: string): void {
    this.#failed.delete(message_id)
  }
}
