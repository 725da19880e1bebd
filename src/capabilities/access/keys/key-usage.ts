import type { Clock } from '../../../kernel/time.ts'

/** Remembers when keys were used and writes it down now and then. */
export type KeyUsage = {
  /** Notes a use; costs one Map write. */
  touch(key_id: string): void
  /** Writes what is noted. Never rejects: a time of last use that is lost harms nobody. */
  flush(): Promise<void>
  /** Writes for the last time. */
  close(): Promise<void>
}

/** `write` is called at most once per `flush_ms`, and only when keys were used. */
export function createKeyUsage(options: {
  write: (uses: readonly KeyUse[]) => Promise<void>
  clock: Clock
  flush_ms?: number
  /** Keys noted between two writes; the uses of others are not noted. */
  keys_max?: number
}): KeyUsage {
  const { write, clock, flush_ms = 60_000, keys_max = 10_000 } = options
  let usedAt_ms = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    if (usedAt_ms.size === 0) return
    const uses = [...usedAt_ms].map(([key_id, at_ms]) => ({ key_id, used_at: new Date(at_ms) }))
    usedAt_ms = new Map()
    await write(uses).catch(() => undefined)
  }
  return {
    touch: (key_id) => {
      if (usedAt_ms.size >= keys_max && !usedAt_ms.has(key_id)) return
      usedAt_ms.set(key_id, clock.now_ms())
      timer ??= setTimeout(flush, flush_ms).unref()
    },
    flush,
    close: flush,
  }
}

export type KeyUse = { key_id: string; used_at: Date }
