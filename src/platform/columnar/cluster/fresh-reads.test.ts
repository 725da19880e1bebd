import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ColumnarUnavailable } from '../contract.ts'
import { findBehind, findLogEnd, openFreshReads, type ReplicaState } from './fresh-reads.ts'

/** A replica that has everything up to entry 7 of its shard's log. */
function replica(name: string, more: Partial<ReplicaState> = {}): ReplicaState {
  return {
    ...{ path: '/shard/1', replica: name, replicas: 3, log_pointer: 8, log_max_index: 7 },
    ...{ inserts_in_queue: 0, oldest_s: 0, delay_s: 0, is_cut_off: 0, now_s: 1_000 },
    ...more,
  }
}

const namesOf = (states: readonly ReplicaState[]) => states.map((state) => state.replica)
const fresh = [replica('a'), replica('b'), replica('c')]

test('a replica lacks inserts that it has not read, or not fetched', () => {
  const states = [
    replica('a'),
    replica('unread', { log_pointer: 7 }),
    replica('unfetched', { inserts_in_queue: 2, oldest_s: 999 }),
    replica('later', { inserts_in_queue: 2, oldest_s: 1_001 }),
    replica('cut off', { is_cut_off: 1 }),
    replica('never asked', { log_pointer: 1, delay_s: 5 }),
  ]
  const end = findLogEnd(states)
  expect(namesOf(findBehind(states, end))).toEqual(['unread', 'unfetched', 'cut off'])
})

test('each shard has a log of its own', () => {
  const other = { path: '/shard/2', log_pointer: 3, log_max_index: 2 }
  const states = [...fresh, replica('d', other)]
  expect(findBehind(states, findLogEnd(states))).toEqual([])
  const end = findLogEnd([...states, replica('e', { ...other, log_max_index: 3 })])
  expect(namesOf(findBehind(states, end))).toEqual(['d'])
})

test('a replica that has all entries of an earlier end stays complete', () => {
  const entry = fc.integer({ min: 0, max: 20 })
  fc.assert(
    fc.property(entry, entry, entry, (end, read, more) => {
      const at = findLogEnd([replica('a', { log_max_index: end })])
      const state = (log_pointer: number) => [replica('b', { log_pointer, log_max_index: 30 })]
      const isComplete = findBehind(state(read), at).length === 0
      expect(isComplete).toBe(read > end)
      if (isComplete) expect(findBehind(state(read + more), at)).toEqual([])
    }),
  )
})

/** A cluster whose states are read in this order, the last one again and again. */
function clusterWith(...answers: ReplicaState[][]) {
  let asked = 0
  let now_ms = 0
  const wait = openFreshReads({
    readStates: async () => {
      asked += 1
      return answers[Math.min(asked, answers.length) - 1] ?? []
    },
    wait_ms_max: 1_000,
    now_ms: () => {
      now_ms += 100
      return now_ms
    },
  })
  return { wait, asked: () => asked, later: (ms: number) => (now_ms += ms) }
}

test('a read waits until the replicas have caught up with the end it began at', async () => {
  const lagging = [replica('a'), replica('b', { log_pointer: 6 }), replica('c')]
  // A later entry does not have to be waited for.
  const done = fresh.map((one) => ({ ...one, log_max_index: 9 }))
  const cluster = clusterWith(lagging, lagging, done)
  await cluster.wait()
  expect(cluster.asked()).toBe(3)
})

test('a replica that does not catch up is an error that names it', async () => {
  const cluster = clusterWith([replica('a'), replica('slow', { log_pointer: 6 })])
  const error = await cluster.wait().catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(ColumnarUnavailable)
  expect(error).toMatchObject({ message: expect.stringContaining('replica slow of /shard/1') })
})

test('two replicas never lag behind a majority, so they are asked once a minute', async () => {
  const cluster = clusterWith([
    replica('a', { replicas: 2 }),
    replica('b', { replicas: 2, log_pointer: 1 }),
  ])
  await cluster.wait()
  await cluster.wait()
  expect(cluster.asked()).toBe(1)
  cluster.later(60_000)
  await cluster.wait()
  expect(cluster.asked()).toBe(2)
})

test('reads share a wait that began after them, and no earlier one', async () => {
  const held = Promise.withResolvers<void>()
  let asked = 0
  const wait = openFreshReads({
    readStates: async () => {
      asked += 1
      await held.promise
      return fresh
    },
  })
  const first = wait()
  await Promise.resolve()
  await Promise.resolve()
  const others = [wait(), wait(), wait()]
  held.resolve()
  await Promise.all([first, ...others])
  expect(asked).toBe(2)
})

test('a failed wait does not fail the next one', async () => {
  let asked = 0
  const wait = openFreshReads({
    readStates: async () => {
      asked += 1
      if (asked === 1) throw new ColumnarUnavailable('away')
      return fresh
    },
  })
  await expect(wait()).rejects.toThrow('away')
  await wait()
})
