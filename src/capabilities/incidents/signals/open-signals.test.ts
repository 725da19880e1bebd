import { expect, test } from 'vitest'
import { QueueUnavailable } from '../../../platform/queue/index.ts'
import { openLag } from './open-signals.ts'

/** A queue whose subjects have set ages, or that is unavailable. */
function fakeQueue() {
  const ages = new Map<string, number>()
  const state = { isDown: false, asked: 0 }
  const oldestAgeMs = async (subject: string) => {
    state.asked += 1
    if (state.isDown) throw new QueueUnavailable('no connection')
    return ages.get(subject) ?? 0
  }
  return { ages, state, queue: { oldestAgeMs } }
}

test('the lag is that of the project alone, and is asked for every two seconds', async () => {
  const { ages, state, queue } = fakeQueue()
  const lag = openLag(queue)
  ages.set('ingest.a', 90_000).set('ingest.b', 5)
  expect(await lag('a', 1_000)).toBe(90_000)
  expect(await lag('b', 1_000)).toBe(5)
  ages.set('ingest.a', 0)
  expect(await lag('a', 2_999)).toBe(90_000)
  expect(await lag('a', 3_000)).toBe(0)
  expect(state.asked).toBe(3)
})

test('a clock that is set back does not keep an old answer', async () => {
  const { ages, queue } = fakeQueue()
  const lag = openLag(queue)
  ages.set('ingest.a', 90_000)
  expect(await lag('a', 600_000)).toBe(90_000)
  ages.set('ingest.a', 0)
  expect(await lag('a', 1_000)).toBe(0)
})

test('while the queue is unavailable the lag grows, and it remains for a minute', async () => {
  const { state, queue } = fakeQueue()
  const lag = openLag(queue)
  expect(await lag('a', 100_000)).toBe(0)
  state.isDown = true
  expect(await lag('a', 110_000)).toBe(10_000)
  expect(await lag('b', 400_000)).toBe(300_000)
  state.isDown = false
  expect(await lag('a', 500_000)).toBe(400_000)
  expect(await lag('a', 559_000)).toBe(459_000)
  expect(await lag('a', 561_000)).toBe(0)
})

test('a queue that never answered has a lag of a minute or more', async () => {
  const { state, queue } = fakeQueue()
  state.isDown = true
  expect(await openLag(queue)('a', 100_000)).toBe(60_000)
})

test('another error is not a lag', async () => {
  const broken = { oldestAgeMs: () => Promise.reject(new RangeError('broken')) }
  await expect(openLag(broken)('a', 1)).rejects.toThrow('broken')
})
