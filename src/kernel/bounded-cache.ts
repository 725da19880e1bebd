/**
 * A map of at most `entries_max` entries. When one more is set, the entry that was set longest ago
 * is dropped. Reading an entry does not renew it.
 */
export class BoundedCache<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #entries_max: number

  constructor(entries_max: number) {
    this.#entries_max = entries_max
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  /** Sets the entry and makes it the newest. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#entries_max) this.#dropOldest()
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** The keys, oldest first. */
  keys(): Iterable<Key> {
    return this.#entries.keys()
  }

  /** Deletes the first key: a Map lists its keys in insertion order. */
  #dropOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}
