import { expect, test } from 'vitest'
import { manualTiming } from '../../test/support/manual-timing.ts'
import { createTokenBucket } from './token-bucket.ts'

test('a burst is free, then there are so many a second', async () => {
  const { clock, advance } = manualTiming()
  const bucket = createTokenBucket(clock, { per_second: 10, burst: 3 })
  const take = (count: number) => Array.from({ length: count }, () => bucket.reserve_ms())
  expect(take(5)).toEqual([0, 0, 0, 100, 200])
  await advance(200)
  expect(take(1)).toEqual([100])
  await advance(60_000)
  expect(take(4)).toEqual([0, 0, 0, 100])
})
