import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ManualTiming, manualTiming } from '../../../test/support/manual-timing.ts'
import {
  createDueTimes,
  createTokenBucket,
  createTurns,
  createWorkQueue,
  type QueueObserver,
} from './work-queue.ts'

function queueOf(timing: ManualTiming = manualTiming()) {
  const events: string[] = []
  const observer: QueueObserver = {
    added: (key) => events.push(`added ${key}`),
    retried: (key) => events.push(`retried ${key}`),
    taken: (key, waited_ms) => events.push(`taken ${key} ${waited_ms}`),
    done: (key) => events.push(`done ${key}`),
  }
  return { timing, events, queue: createWorkQueue(timing, observer) }
}

/** Takes the keys that are ready now. */
async function takeAll(queue: ReturnType<typeof queueOf>['queue']): Promise<string[]> {
  const keys: string[] = []
  while (queue.depth() > 0) keys.push((await queue.take()) ?? 'closed')
  return keys
}

test('a key that is added several times waits once', async () => {
  const { queue, events } = queueOf()
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
  expect(await takeAll(queue)).toEqual(['a', 'b'])
  expect(events.filter((line) => line.startsWith('added'))).toEqual(['added a', 'added b'])
})

test('no two workers have the same key; a key added meanwhile follows', async () => {
  const { queue } = queueOf()
  queue.add('a')
  expect(await queue.take()).toBe('a')
  queue.add('a')
  queue.add('a')
  expect(queue.depth()).toBe(0)
  const second = queue.take()
  queue.done('a')
  expect(await second).toBe('a')
  queue.done('a')
  expect(queue.depth()).toBe(0)
})

test('namespaces take turns: many keys of one delay another by one key', async () => {
  const { queue } = queueOf()
  for (let n = 0; n < 1_000; n += 1) queue.add(`crowded/${n}`)
  expect(await queue.take()).toBe('crowded/0')
  queue.add('other/a')
  queue.add('other/b')
  const next = await Promise.all(Array.from({ length: 5 }, () => queue.take()))
  expect(next).toEqual(['crowded/1', 'other/a', 'crowded/2', 'other/b', 'crowded/3'])
  expect(queue.depth()).toBe(996)
})

/** Turns as a list of namespaces and their keys. */
function plainTurns() {
  const list: { namespace: string; keys: string[] }[] = []
  return {
    add: (key: string) => {
      const [namespace = ''] = key.split('/')
      const same = list.find((one) => one.namespace === namespace)
      if (same === undefined) list.push({ namespace, keys: [key] })
      else same.keys.push(key)
    },
    take: () => {
      const first = list.shift()
      const key = first?.keys.shift()
      if (first !== undefined && first.keys.length > 0) list.push(first)
      return key
    },
    size: () => list.reduce((sum, { keys }) => sum + keys.length, 0),
  }
}

test('turns are those of a plain list of namespaces', () => {
  const namespace = fc.option(fc.constantFrom('a', 'b', 'c', ''))
  fc.assert(
    fc.property(fc.array(namespace, { maxLength: 60 }), (steps) => {
      const [turns, plain] = [createTurns(), plainTurns()]
      for (const [at, step] of steps.entries()) {
        if (step === null) expect(turns.take()).toBe(plain.take())
        else for (const list of [turns, plain]) list.add(`${step}/${at}`)
        expect(turns.size()).toBe(plain.size())
      }
    }),
  )
})

test('a waiting worker gets a new key at once', async () => {
  const { queue, timing, events } = queueOf()
  const taken = queue.take()
  await timing.advance(50)
  queue.add('a')
  expect(await taken).toBe('a')
  expect(events).toContain('taken a 0')
})

test('a later delay replaces the earlier one', async () => {
  const { queue, timing } = queueOf()
  queue.addAfter('a', 10_000)
  queue.addAfter('b', 5_000)
  queue.addAfter('a', 1_000)
  await timing.advance(999)
  expect(queue.depth()).toBe(0)
  await timing.advance(1)
  expect(await takeAll(queue)).toEqual(['a'])
  queue.done('a')
  queue.addAfter('b', 60_000)
  await timing.advance(59_999)
  expect(queue.depth()).toBe(0)
  await timing.advance(1)
  expect(await takeAll(queue)).toEqual(['b'])
  expect(timing.sleepers()).toEqual([])
})

test('ten thousand delays use one sleep', async () => {
  const { queue, timing } = queueOf()
  for (let i = 0; i < 10_000; i += 1) queue.addAfter(`k${i}`, 1_000 + (i % 100))
  expect(timing.sleepers()).toHaveLength(1)
  await timing.advance(1_100)
  expect(queue.depth()).toBe(10_000)
})

test('retries of a key back off, and many retries share a rate', async () => {
  const { queue, timing } = queueOf()
  const waits: number[] = []
  for (let i = 0; i < 4; i += 1) {
    queue.fail('a')
    queue.addRateLimited('a', 0)
    waits.push(timing.sleepers()[0] ?? 0)
    await timing.advance(waits[i] ?? 0)
    expect(await queue.take()).toBe('a')
    queue.done('a')
  }
  expect(waits).toEqual([5, 10, 20, 40])
  queue.forget('a')
  expect(queue.fail('a')).toBe(1)
  for (let i = 0; i < 200; i += 1) {
    queue.fail(`k${i}`)
    queue.addRateLimited(`k${i}`, 0)
  }
  await timing.advance(1_000)
  // A burst of 100 (four of them were used above), and ten a second.
  expect(queue.depth()).toBeGreaterThanOrEqual(100)
  expect(queue.depth()).toBeLessThanOrEqual(111)
})

test('a retry waits at least for the given minimum', async () => {
  const { queue, timing } = queueOf()
  queue.fail('a')
  queue.addRateLimited('a', 7_000)
  expect(timing.sleepers()).toEqual([7_000])
})

test('a dropped key does not come back', async () => {
  const { queue, timing } = queueOf()
  queue.fail('a')
  queue.addAfter('a', 1_000)
  queue.drop('a')
  await timing.advance(2_000)
  expect(queue.depth()).toBe(0)
  expect(queue.fail('a')).toBe(1)
})

test('close resolves waiting takes, and adds nothing more', async () => {
  const { queue, timing } = queueOf()
  const waiting = queue.take()
  queue.addAfter('later', 1_000)
  queue.close()
  expect(await waiting).toBeUndefined()
  queue.add('a')
  await timing.advance(2_000)
  expect(await queue.take()).toBeUndefined()
  expect(timing.sleepers()).toEqual([])
})

test('a token bucket allows a burst, then its rate', async () => {
  const { clock, advance } = manualTiming()
  const bucket = createTokenBucket(clock, { per_second: 10, burst: 3 })
  const take = (count: number) => Array.from({ length: count }, () => bucket.reserve_ms())
  expect(take(5)).toEqual([0, 0, 0, 100, 200])
  await advance(200)
  expect(take(1)).toEqual([100])
  await advance(60_000)
  expect(take(4)).toEqual([0, 0, 0, 100])
})

test('due times keep one entry per key, with the latest time', () => {
  const times = createDueTimes()
  times.put('a', 10)
  times.put('b', 5)
  times.put('a', 3)
  expect([times.size(), times.next_ms()]).toEqual([2, 3])
  times.put('a', 20)
  expect(times.takeDue(9)).toEqual(['b'])
  times.remove('a')
  expect([times.size(), times.next_ms()]).toEqual([0, undefined])
})

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  at: fc.nat(20),
  put: fc.boolean(),
})

test('due keys are taken once, earliest first, as with a plain map', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(20), (steps, now) => {
      const times = createDueTimes()
      const plain = new Map<string, number>()
      for (const { key, at, put } of steps) {
        if (put) {
          times.put(key, at)
          plain.set(key, at)
        } else {
          times.remove(key)
          plain.delete(key)
        }
      }
      expect(times.next_ms()).toBe(plain.size === 0 ? undefined : Math.min(...plain.values()))
      const due = [...plain].filter(([, at]) => at <= now)
      due.sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
      expect(times.takeDue(now)).toEqual(due.map(([key]) => key))
      expect(times.size()).toBe(plain.size - due.length)
    }),
  )
})
