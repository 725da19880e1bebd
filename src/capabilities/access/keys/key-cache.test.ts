import { expect, test } from 'vitest'
import { createKeyCache, type KeyCacheOptions, type StoredKey } from './key-cache.ts'
import { keyPrefix, newKey } from './project-key.ts'

const minute = 60_000
const { key, prefix, secret_hash } = newKey('project')
const stored: StoredKey = {
  owner: {
    key_id: 'k1',
    project_id: 'p1',
    scopes: new Set(['proxy:write']),
    service_account_id: null,
  },
  secret_hash,
  expires_at_ms: null,
}
const down = () => Promise.reject(new Error('connection refused'))

/** A cache on a store whose answer and a clock whose time the test sets. */
function cacheOn(options: Partial<KeyCacheOptions> = {}) {
  const world = {
    now_ms: 1_000_000,
    loads: 0,
    used: [] as string[],
    answer: (async () => stored) as (prefix: string) => Promise<StoredKey | undefined>,
  }
  const cache = createKeyCache({
    load: (asked) => {
      world.loads += 1
      return world.answer(asked)
    },
    prefixOf: keyPrefix,
    clock: { now_ms: () => world.now_ms },
    onUsed: (id) => world.used.push(id),
    ...options,
  })
  return { cache, world }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('the first use asks the store, the next is answered at once', async () => {
  const { cache, world } = cacheOn()
  const first = cache.authenticate(key)
  expect(first).toBeInstanceOf(Promise)
  expect(await first).toEqual(stored.owner)
  expect(cache.authenticate(key)).toEqual(stored.owner)
  expect([world.loads, world.used]).toEqual([1, ['k1', 'k1']])
})

test('a wrong secret behind a known prefix is refused', async () => {
  const { cache, world } = cacheOn()
  const wrong = `${prefix}_${'x'.repeat(32)}`
  expect(await cache.authenticate(wrong)).toBeUndefined()
  expect(cache.authenticate(wrong)).toBeUndefined()
  expect(world.used).toEqual([])
})

test('malformed text does not reach the store', () => {
  const { cache, world } = cacheOn()
  expect(cache.authenticate('lt_nonsense')).toBeUndefined()
  expect(world.loads).toBe(0)
})

test('uses at the same time share one load', async () => {
  const { cache, world } = cacheOn()
  await Promise.all([cache.authenticate(key), cache.authenticate(key), cache.authenticate(key)])
  expect(world.loads).toBe(1)
})

test('an unknown key is asked for again after 5 s', async () => {
  const { cache, world } = cacheOn()
  world.answer = async () => undefined
  expect(await cache.authenticate(key)).toBeUndefined()
  world.now_ms += 4_999
  expect(cache.authenticate(key)).toBeUndefined()
  expect(world.loads).toBe(1)
  world.now_ms += 1
  world.answer = async () => stored
  expect(await cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
})

test('in the second half of its lifetime, a use renews the answer in the background', async () => {
  const { cache, world } = cacheOn()
  await cache.authenticate(key)
  world.now_ms += 15_000
  world.answer = async () => undefined
  expect(cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
  await settled()
  expect(cache.authenticate(key)).toBeUndefined()
  expect(world.loads).toBe(2)
})

test('a key revoked elsewhere is refused after 30 s, on its first use too', async () => {
  const { cache, world } = cacheOn()
  await cache.authenticate(key)
  world.answer = async () => undefined
  world.now_ms += 30_000
  expect(await cache.authenticate(key)).toBeUndefined()
})

test('the lifetime of an answer counts from before it was read', async () => {
  const { cache, world } = cacheOn()
  world.answer = async () => {
    world.now_ms += 20_000
    return stored
  }
  await cache.authenticate(key)
  world.answer = async () => undefined
  world.now_ms += 10_000
  expect(await cache.authenticate(key)).toBeUndefined()
})

test('a forgotten key is read again, and an older read of it is not kept', async () => {
  const { cache, world } = cacheOn()
  const slow = Promise.withResolvers<StoredKey | undefined>()
  world.answer = () => slow.promise
  const before = cache.authenticate(key)
  cache.forget(prefix)
  slow.resolve(stored)
  expect(await before).toMatchObject({ key_id: 'k1' })
  world.answer = async () => undefined
  expect(await cache.authenticate(key)).toBeUndefined()
  expect(world.loads).toBe(2)
})

test('an expired key is refused though its answer is fresh', async () => {
  const { cache, world } = cacheOn()
  world.answer = async () => ({ ...stored, expires_at_ms: world.now_ms + 10 })
  expect(await cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
  world.now_ms += 10
  expect(cache.authenticate(key)).toBeUndefined()
})

test('the oldest key is evicted above the limit', async () => {
  const { cache, world } = cacheOn({ entries_max: 1 })
  const other = newKey('project')
  world.answer = async (asked) =>
    asked === prefix
      ? stored
      : { ...stored, owner: { ...stored.owner, key_id: 'k2' }, secret_hash: other.secret_hash }
  await cache.authenticate(key)
  await cache.authenticate(other.key)
  expect(cache.authenticate(other.key)).toMatchObject({ key_id: 'k2' })
  expect(cache.authenticate(key)).toBeInstanceOf(Promise)
})

test('a known key is accepted for a day of an outage, and no longer', async () => {
  const { cache, world } = cacheOn()
  await cache.authenticate(key)
  world.answer = down
  world.now_ms += 31_000
  expect(await cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
  world.now_ms += 23 * 60 * minute
  expect(cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
  world.now_ms += 61 * minute
  await expect(cache.authenticate(key)).rejects.toMatchObject({ code: 'store_unavailable' })
})

test('in an outage the store is read once a second, and its answers count again afterwards', async () => {
  const { cache, world } = cacheOn()
  await cache.authenticate(key)
  world.answer = down
  world.now_ms += 31_000
  await cache.authenticate(key)
  for (let use = 0; use < 5; use += 1) expect(cache.authenticate(key)).toBeDefined()
  expect(world.loads).toBe(2)
  world.now_ms += 1_000
  world.answer = async () => undefined
  expect(cache.authenticate(key)).toBeDefined()
  await settled()
  expect(cache.authenticate(key)).toBeUndefined()
})

test('a key that is not cached can not be checked in an outage', async () => {
  const { cache, world } = cacheOn()
  world.answer = down
  const refused = { code: 'store_unavailable', status: 503 }
  await expect(cache.authenticate(key)).rejects.toMatchObject(refused)
  await expect(cache.authenticate(key)).rejects.toMatchObject(refused)
  expect(world.loads).toBe(1)
})

test('a hanging store delays a known key only by load_wait_ms', async () => {
  const { cache, world } = cacheOn({ load_wait_ms: 5 })
  await cache.authenticate(key)
  world.answer = () => new Promise(() => undefined)
  world.now_ms += 31_000
  expect(await cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
})

test('more loads of unknown keys than the limit are refused', async () => {
  const { cache, world } = cacheOn({ loads_max: 1 })
  await cache.authenticate(key)
  const slow = Promise.withResolvers<StoredKey | undefined>()
  world.answer = () => slow.promise
  const first = cache.authenticate(newKey('project').key)
  await expect(cache.authenticate(newKey('project').key)).rejects.toMatchObject({ status: 503 })
  world.now_ms += 31_000
  expect(await cache.authenticate(key)).toMatchObject({ key_id: 'k1' })
  slow.resolve(undefined)
  expect(await first).toBeUndefined()
})
