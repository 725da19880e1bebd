import { backOff } from '../kernel/back-off.ts'
import { itemBackoff } from './backoff.ts'
import { createDueTimes } from './due-times.ts'
import type { Timing } from './timing.ts'
import { createTokenBucket } from './token-bucket.ts'

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

/** Adds keys when their time has come: one sleep, until the earliest of them. */
function delayedKeys(
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
