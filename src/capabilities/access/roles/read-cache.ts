import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Clock } from '../../../kernel/time.ts'

/** Keeps what was read for a while. Concurrent readers of one key share a read. */
export type ReadCache<T> = {
  get(key: string, read: () => Promise<T>): Promise<T>
  /** Forgets everything; a read under way is answered but not kept. */
  clear(): void
}

/** Answers hold for `ttl_ms`; of more than `entries_max` the oldest goes. A failure is not kept. */
export function createReadCache<T>(options: {
  ttl_ms: number
  entries_max: number
  clock: Clock
}): ReadCache<T> {
  const { ttl_ms, entries_max, clock } = options
  const entries = new BoundedCache<string, { value: Promise<T>; read_at_ms: number }>(entries_max)
  return {
    get: (key, read) => {
      const now_ms = clock.now_ms()
      const held = entries.get(key)
      if (held !== undefined && now_ms - held.read_at_ms < ttl_ms) return held.value
      const value = read()
      const entry = { value, read_at_ms: now_ms }
      entries.set(key, entry)
      value.catch(() => {
        if (entries.get(key) === entry) entries.delete(key)
      })
      return value
    },
    clear: () => entries.clear(),
  }
}
