import type { Clock } from '../../../kernel/time.ts'

/** Collects the times at which keys were used, and writes them at intervals. */
export type KeyUsage = {
  /** Records a use; costs one Map write. */
  touch(key_id: string): void
  /** Writes the recorded uses. Never rejects: losing a time of last use does no harm. */
  flush(): Promise<void>
  /** Writes for the last time. */
  close(): Promise<void>
}

/** Creates a KeyUsage that calls `write` at most once per `flush_ms`, only after uses. */
export function createKeyUsage(options: {
  write: (uses: readonly KeyUse[]) => Promise<void>
  clock: Clock
  flush_ms?: number
  /** Maximum keys recorded between two writes. Uses of further keys are dropped. */
  keys_max?: number
}): KeyUsage {
  const { write, clock, flush_ms = 60_000, keys_max = 10_000 } = options
  let usedAtMs = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    if (usedAtMs.size === 0) return
    const uses = [...usedAtMs].map(([key_id, at_ms]) => ({ key_id, used_at: new Date(at_ms) }))
    usedAtMs = new Map()
    await write(uses).catch(() => undefined)
  }
  return {
    touch: (key_id) => {
      if (usedAtMs.size >= keys_max && !usedAtMs.has(key_id)) return
      usedAtMs.set(key_id, clock.now_ms())
      timer ??= setTimeout(flush, flush_ms).unref()
    },
    flush,
    close: flush,
  }
}

export type KeyUse = { key_id: string; used_at: Date }
