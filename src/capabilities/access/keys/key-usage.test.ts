import { expect, test } from 'vitest'
import { createKeyUsage, type KeyUse } from './key-usage.ts'

function usage(options: { keys_max?: number; fails?: boolean } = {}) {
  const world = { now_ms: 1_000, writes: [] as (readonly KeyUse[])[] }
  const noted = createKeyUsage({
    write: async (uses) => {
      world.writes.push(uses)
      if (options.fails) throw new Error('connection refused')
    },
    clock: { now_ms: () => world.now_ms },
    ...(options.keys_max !== undefined && { keys_max: options.keys_max }),
  })
  return { noted, world }
}

test('many uses are one write, with the last time of each key', async () => {
  const { noted, world } = usage()
  noted.touch('a')
  noted.touch('b')
  world.now_ms = 2_000
  noted.touch('a')
  await noted.flush()
  await noted.flush()
  expect(world.writes).toEqual([
    [
      { key_id: 'a', used_at: new Date(2_000) },
      { key_id: 'b', used_at: new Date(1_000) },
    ],
  ])
})

test('a failed write is not an error', async () => {
  const { noted, world } = usage({ fails: true })
  noted.touch('a')
  await noted.close()
  expect(world.writes).toHaveLength(1)
})

test('keys beyond the limit are not recorded', async () => {
  const { noted, world } = usage({ keys_max: 1 })
  noted.touch('a')
  noted.touch('b')
  await noted.flush()
  expect(world.writes.flat().map(({ key_id }) => key_id)).toEqual(['a'])
})
