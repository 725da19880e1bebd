/** Keys that wait for a time; each is there once, with the time that was said last. */
export type DueTimes = {
  put(key: string, due_ms: number): void
  remove(key: string): void
  /** Takes out the keys whose time has come, earliest first. */
  takeDue(now_ms: number): string[]
  /** The earliest time; undefined when nothing waits. */
  next_ms(): number | undefined
  size(): number
}

type Entry = { key: string; due_ms: number }

/**
 * A list that stays sorted: ten thousand resyncs wait in it for minutes, one is put or taken at a
 * time, and a shift of so short an array costs microseconds.
 */
export function createDueTimes(): DueTimes {
  const byKey = new Map<string, number>()
  const sorted: Entry[] = []
  const remove = (key: string) => {
    const due_ms = byKey.get(key)
    if (due_ms === undefined) return
    byKey.delete(key)
    sorted.splice(placeOf(sorted, { key, due_ms }), 1)
  }
  return {
    remove,
    put: (key, due_ms) => {
      remove(key)
      byKey.set(key, due_ms)
      const entry = { key, due_ms }
      sorted.splice(placeOf(sorted, entry), 0, entry)
    },
    takeDue: (now_ms) => {
      const count = sorted.findIndex(({ due_ms }) => due_ms > now_ms)
      const due = sorted.splice(0, count === -1 ? sorted.length : count)
      for (const { key } of due) byKey.delete(key)
      return due.map(({ key }) => key)
    },
    next_ms: () => sorted[0]?.due_ms,
    size: () => sorted.length,
  }
}

/** Index of the first entry that is not before this one. */
function placeOf(sorted: readonly Entry[], entry: Entry): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const there = sorted[middle]
    if (there !== undefined && isBefore(there, entry)) low = middle + 1
    else high = middle
  }
  return low
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due_ms === b.due_ms ? a.key < b.key : a.due_ms < b.due_ms
}
