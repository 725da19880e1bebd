import { expect, test } from 'vitest'
import { createReadCache } from './role-reader.ts'

function counted(entries_max = 10) {
  const world = { now_ms: 0, reads: 0 }
  const cache = createReadCache<number>({
    ttl_ms: 100,
    entries_max,
    clock: { now_ms: () => world.now_ms },
  })
  const get = (key: string) =>
    cache.get(key, async () => {
      world.reads += 1
      return world.reads
    })
  return { cache, world, get }
}

test('an answer is cached for its lifetime and read again afterwards', async () => {
  const { world, get } = counted()
  expect(await Promise.all([get('a'), get('a')])).toEqual([1, 1])
  world.now_ms = 99
  expect(await get('a')).toBe(1)
  world.now_ms = 100
  expect(await get('a')).toBe(2)
})

test('after clear everything is read again', async () => {
  const { cache, get } = counted()
  await get('a')
  cache.clear()
  expect(await get('a')).toBe(2)
})

test('a failure is not kept', async () => {
  const { cache, get } = counted()
  await expect(cache.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await get('a')).toBe(1)
})

test('the oldest answer is evicted above the limit', async () => {
  const { get } = counted(2)
  await get('a')
  await get('b')
  await get('c')
  expect(await get('c')).toBe(3)
  expect(await get('b')).toBe(2)
  expect(await get('a')).toBe(4)
})
