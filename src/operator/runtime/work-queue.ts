import { backOff } from '../../kernel/back-off.ts'
import type { Clock } from '../../kernel/time.ts'
import { itemBackoff, type Timing } from './timing.ts'

/** Keys of resources that are to be looked at. */
export type WorkQueue = {
  /** Now. A key that waits already is there once; one that is worked on comes again after that. */
  add(key: string): void
  /** In a while, in place of what was said before. */
  addAfter(key: string, wait_ms: number): void
  /**
   * After a failure: the key's own back-off, the common limit of retries, or what was asked for,
   * whichever is latest.
   */
  addRateLimited(key: string, asked_ms: number): void
  /** Counts a failure of the key. */
  fail(key: string): number
  /** The key went well: its back-off begins anew. */
  forget(key: string): void
  /** The key is no more: nothing of it is to come. */
  drop(key: string): void
  /** The next key, when there is one; undefined once the queue is closed. The caller owes `done`. */
  take(): Promise<string | undefined>
  done(key: string): void
  /** Whoever waits for a key is told that there is none; nothing is given out any more. */
  close(): void
  depth(): number
}

/** What happens to keys, for metrics. */
export type QueueObserver = {
  added(key: string): void
  retried(key: string): void
  taken(key: string, waited_ms: number): void
  done(key: string): void
}

/** client-go's overall limit of retries. */
const retries = { per_second: 10, burst: 100 }

/**
 * A queue of keys by client-go's rules (`util/workqueue`): a key waits once, however often it is
 * added; no two workers have the same key; what is added while it is worked on comes right after.
 */
export function createWorkQueue(timing: Timing, observer: QueueObserver): WorkQueue {
  const { clock, random } = timing
  /** Keys to work on, with the time they came; those that are worked on now stay out of `ready`. */
  const dirty = new Map<string, number>()
  const processing = new Set<string>()
  const ready: string[] = []
  const takers: ((key: string | undefined) => void)[] = []
  const failures = new Map<string, number>()
  const bucket = createTokenBucket(clock, retries)
  const closed = new AbortController()

  const hand = () => {
    while (takers.length > 0 && ready.length > 0) {
      const key = ready.shift()
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
    ready.push(key)
    hand()
  }
  const later = delayedKeys(timing, add, closed.signal)
  return {
    add,
    addAfter: later.add,
    addRateLimited: (key, asked_ms) => {
      observer.retried(key)
      const own_ms = backOff(itemBackoff, failures.get(key) ?? 1, random)
      later.add(key, Math.max(own_ms, bucket.reserve_ms(), asked_ms))
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
      later.cancel(key)
    },
    take: () => {
      if (closed.signal.aborted) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      takers.push(resolve)
      hand()
      return promise
    },
    done: (key) => {
      processing.delete(key)
      observer.done(key)
      if (dirty.has(key)) ready.push(key)
      hand()
    },
    close: () => {
      closed.abort()
      for (const tell of takers.splice(0)) tell(undefined)
    },
    depth: () => ready.length,
  }
}

/** Tells how long the next one has to wait. */
export type TokenBucket = { reserve_ms(): number }

/**
 * client-go's overall limiter of retries: so many a second, with a burst. A reservation is always
 * given; it only tells when. So the wait grows with the number of keys that fail at once.
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

/** Adds keys when their time has come: one sleep, until the earliest of them. */
export function delayedKeys(
  { clock, sleep }: Timing,
  add: (key: string) => void,
  closed: AbortSignal,
): { add(key: string, wait_ms: number): void; cancel(key: string): void } {
  const times = createDueTimes()
  let waking: { at_ms: number; cancel: AbortController } | undefined
  const plan = () => {
    const at_ms = times.next_ms()
    if (at_ms === undefined || closed.aborted) return
    if (waking !== undefined && waking.at_ms <= at_ms) return
    waking?.cancel.abort()
    const turn = { at_ms, cancel: new AbortController() }
    waking = turn
    void sleep(Math.max(0, at_ms - clock.now_ms()), turn.cancel.signal).then(() => {
      if (waking !== turn) return
      waking = undefined
      for (const key of times.takeDue(clock.now_ms())) add(key)
      plan()
    })
  }
  closed.addEventListener('abort', () => waking?.cancel.abort(), { once: true })
  return {
    cancel: times.remove,
    add: (key, wait_ms) => {
      times.put(key, clock.now_ms() + wait_ms)
      plan()
    },
  }
}

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
