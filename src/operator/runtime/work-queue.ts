import { backOff } from '../../kernel/back-off.ts'
import type { Clock } from '../../kernel/time.ts'
import { itemBackoff, type Timing } from './timing.ts'

/** A queue of keys of resources to reconcile. */
export type WorkQueue = {
  /** Adds a key unless it is waiting. A key in progress is queued again when it is done. */
  add(key: string): void
  /** Adds a key after a delay, which replaces an earlier delay of the key. */
  addAfter(key: string, wait_ms: number): void
  /**
   * Adds a key after a failure, after the longest of its own back-off, the common limit of retries
   * and `wait_ms_min`.
   */
  addRateLimited(key: string, wait_ms_min: number): void
  /** Counts a failure of the key and returns its failures in a row. */
  fail(key: string): number
  /** Resets the back-off of the key after a success. */
  forget(key: string): void
  /** Discards the key's back-off and delay. */
  drop(key: string): void
  /** Waits for the next key; undefined once closed. The caller must call `done` for the key. */
  take(): Promise<string | undefined>
  done(key: string): void
  /** Shuts down: pending and later `take` calls resolve with undefined. */
  close(): void
  depth(): number
}

/** Callbacks for metrics. */
export type QueueObserver = {
  added(key: string): void
  retried(key: string): void
  taken(key: string, waited_ms: number): void
  done(key: string): void
}

/** The limit of retries over all keys, as in client-go. */
const retries = { per_second: 10, burst: 100 }

/**
 * Creates a queue by client-go's rules (`util/workqueue`): a key waits only once; no two workers
 * have the same key; a key that is added while in progress is queued again when it is done.
 * Unlike client-go's, it takes turns between namespaces.
 */
export function createWorkQueue(timing: Timing, observer: QueueObserver): WorkQueue {
  const { clock, random } = timing
  /** Keys to reconcile, with the time they were added; those in progress are not in `ready`. */
  const dirty = new Map<string, number>()
  const processing = new Set<string>()
  const ready = createTurns()
  const takers: ((key: string | undefined) => void)[] = []
  const failures = new Map<string, number>()
  const bucket = createTokenBucket(clock, retries)
  const closed = new AbortController()

  const dispatch = () => {
    while (takers.length > 0) {
      const key = ready.take()
      if (key === undefined) return
      const since_ms = dirty.get(key) ?? clock.now_ms()
      dirty.delete(key)
      processing.add(key)
      observer.taken(key, clock.now_ms() - since_ms)
      takers.shift()?.(key)
    }
  }
  const add = (key: string) => {
    if (closed.signal.aborted || dirty.has(key)) return
    dirty.set(key, clock.now_ms())
    observer.added(key)
    if (processing.has(key)) return
    ready.add(key)
    dispatch()
  }
  const delays = createDelays(timing, add, closed.signal)
  return {
    add,
    addAfter: delays.add,
    addRateLimited: (key, wait_ms_min) => {
      observer.retried(key)
      const own_ms = backOff(itemBackoff, failures.get(key) ?? 1, random)
      delays.add(key, Math.max(own_ms, bucket.reserve_ms(), wait_ms_min))
    },
    fail: (key) => {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      return count
    },
    forget: (key) => {
      failures.delete(key)
    },
    drop: (key) => {
      failures.delete(key)
      delays.cancel(key)
    },
    take: () => {
      if (closed.signal.aborted) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      takers.push(resolve)
      dispatch()
      return promise
    },
    done: (key) => {
      processing.delete(key)
      observer.done(key)
      if (dirty.has(key)) ready.add(key)
      dispatch()
    },
    close: () => {
      closed.abort()
      for (const resolve of takers.splice(0)) resolve(undefined)
    },
    depth: ready.size,
  }
}

/** A rate limiter; `reserve_ms` takes a token and returns the wait for it. */
type TokenBucket = { reserve_ms(): number }

/**
 * Creates a limiter of retries per second with a burst, as in client-go. A reservation never fails;
 * its wait grows with the number of keys that fail at once.
 */
export function createTokenBucket(
  clock: Clock,
  { per_second, burst }: { per_second: number; burst: number },
): TokenBucket {
  let tokens = burst
  let counted_ms = clock.now_ms()
  return {
    reserve_ms: () => {
      const now_ms = clock.now_ms()
      tokens = Math.min(burst, tokens + (Math.max(0, now_ms - counted_ms) / 1000) * per_second)
      counted_ms = now_ms
      tokens -= 1
      return tokens >= 0 ? 0 : Math.ceil((-tokens / per_second) * 1000)
    },
  }
}

/**
 * Creates a list of keys that takes turns between namespaces, so that one with many resources delays
 * each other namespace by one resource at a time. Within a namespace, the first key comes first.
 */
export function createTurns(): {
  /** Adds a key, `namespace/name`, that is not in the list. */
  add(key: string): void
  /** Removes and returns the next key; undefined when empty. */
  take(): string | undefined
  size(): number
} {
  /** Keys by namespace, in the order of turns. */
  const waiting = new Map<string, Set<string>>()
  let count = 0
  return {
    add: (key) => {
      const namespace = key.slice(0, key.indexOf('/') + 1)
      const keys = waiting.get(namespace) ?? new Set()
      waiting.set(namespace, keys.add(key))
      count += 1
    },
    take: () => {
      for (const [namespace, keys] of waiting) {
        waiting.delete(namespace)
        for (const key of keys) {
          keys.delete(key)
          if (keys.size > 0) waiting.set(namespace, keys)
          count -= 1
          return key
        }
      }
      return undefined
    },
    size: () => count,
  }
}

/** Adds keys after a delay. It uses a single sleep until the earliest due time. */
function createDelays(
  { clock, sleep }: Timing,
  add: (key: string) => void,
  closed: AbortSignal,
): { add(key: string, wait_ms: number): void; cancel(key: string): void } {
  const times = createDueTimes()
  let timer: { at_ms: number; cancel: AbortController } | undefined
  const schedule = () => {
    const at_ms = times.next_ms()
    if (at_ms === undefined || closed.aborted) return
    if (timer !== undefined && timer.at_ms <= at_ms) return
    timer?.cancel.abort()
    const next = { at_ms, cancel: new AbortController() }
    timer = next
    void sleep(Math.max(0, at_ms - clock.now_ms()), next.cancel.signal).then(() => {
      if (timer !== next) return
      timer = undefined
      for (const key of times.takeDue(clock.now_ms())) add(key)
      schedule()
    })
  }
  closed.addEventListener('abort', () => timer?.cancel.abort(), { once: true })
  return {
    cancel: times.remove,
    add: (key, wait_ms) => {
      times.put(key, clock.now_ms() + wait_ms)
      schedule()
    },
  }
}

/** Keys with a due time. Each key has one entry, with the latest time that was put. */
type DueTimes = {
  put(key: string, due_ms: number): void
  remove(key: string): void
  /** Removes and returns the due keys, earliest first. */
  takeDue(now_ms: number): string[]
  /** Returns the earliest due time; undefined when empty. */
  next_ms(): number | undefined
  size(): number
}

type Entry = { key: string; due_ms: number }

/**
 * Creates a sorted list of due times. It holds about ten thousand resyncs and changes one at a
 * time; shifting an array of that length takes microseconds.
 */
export function createDueTimes(): DueTimes {
  const byKey = new Map<string, number>()
  const sorted: Entry[] = []
  const remove = (key: string) => {
    const due_ms = byKey.get(key)
    if (due_ms === undefined) return
    byKey.delete(key)
    sorted.splice(insertionIndex(sorted, { key, due_ms }), 1)
  }
  return {
    remove,
    put: (key, due_ms) => {
      remove(key)
      byKey.set(key, due_ms)
      const entry = { key, due_ms }
      sorted.splice(insertionIndex(sorted, entry), 0, entry)
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

/** Returns the index of the first entry that is not before the given one. */
function insertionIndex(sorted: readonly Entry[], entry: Entry): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = sorted[middle]
    if (other !== undefined && isBefore(other, entry)) low = middle + 1
    else high = middle
  }
  return low
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due_ms === b.due_ms ? a.key < b.key : a.due_ms < b.due_ms
}

/** Takes keys for a number of workers until the queue is closed. */
export async function processKeys(
  queue: WorkQueue,
  workers: number,
  work: (key: string) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) await work(key)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
