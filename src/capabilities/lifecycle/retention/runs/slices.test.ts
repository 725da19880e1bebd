import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxRetentionIds } from '../../../storage/index.ts'
import { halve, windowOf, withHolds } from './slices.ts'

const day = 20_000
const slice = { project_id: 'p', kind: 'observations', ...windowOf(day) } as const
const hold = [{ kind: 'user', value: 'ada' }] as const

/**
 * A store of held rows, each of a trace of its own; it tells one trace more than a statement names.
 */
function storeOf(times: readonly bigint[]) {
  const ids = times.map((time, at) => ({ time, id: `trace ${at}` }))
  return {
    heldTraces: async ({ from, to }: { from: bigint; to: bigint }) =>
      ids
        .filter(({ time }) => time >= from && time < to)
        .map(({ id }) => id)
        .slice(0, maxRetentionIds + 1),
  }
}

test('halves cover a window without overlap', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 18n), fc.bigInt(1n, 10n ** 14n), (from, length) => {
      const halves = halve({ from, to: from + length })
      expect(halves === undefined).toBe(length <= 1_000_000n)
      if (halves === undefined) return
      const [later, earlier] = halves
      expect(earlier.from).toBe(from)
      expect(earlier.to).toBe(later.from)
      expect(later.to).toBe(from + length)
    }),
  )
})

test('a slice without holds, or with held traces that fit a statement, stays whole', async () => {
  const times = Array.from({ length: maxRetentionIds }, (_, at) => slice.from + BigInt(at))
  expect(await withHolds(storeOf(times), slice, [])).toMatchObject({
    ...{ slices: [{ from: slice.from, to: slice.to, held_trace_ids: [] }], kept: [] },
  })
  const { slices, kept } = await withHolds(storeOf(times), slice, hold)
  expect(slices).toHaveLength(1)
  expect(slices[0]?.held_trace_ids).toHaveLength(maxRetentionIds)
  expect(kept).toEqual([])
})

test('a slice with more held traces is cut until those of each part fit a statement', async () => {
  const times = Array.from(
    { length: maxRetentionIds * 2 + 7 },
    (_, at) => slice.from + BigInt(at) * 7_000_000_000n,
  )
  const store = storeOf(times)
  const { slices, kept } = await withHolds(store, slice, hold)
  expect(kept).toEqual([])
  const sorted = slices.toSorted((left, right) => (left.from < right.from ? -1 : 1))
  sorted.forEach((part, at) => {
    expect(part.from).toBe(at === 0 ? slice.from : sorted[at - 1]?.to)
    expect(part.held_trace_ids.length).toBeLessThanOrEqual(maxRetentionIds)
  })
  expect(sorted.at(-1)?.to).toBe(slice.to)
  expect(new Set(slices.flatMap(({ held_trace_ids }) => held_trace_ids)).size).toBe(times.length)
})

test('a millisecond with too many held traces is kept', async () => {
  const at = slice.from + 5_000_000n
  const store = storeOf(Array.from({ length: maxRetentionIds + 1 }, () => at))
  const { slices, kept } = await withHolds(store, slice, hold)
  expect(kept).toHaveLength(1)
  expect(kept[0] && kept[0].from <= at && kept[0].to > at).toBe(true)
  for (const { from, to } of slices) expect(at >= from && at < to).toBe(false)
})

test('a window of several days is cut at midnight, so that no day is cut before it is alone', () => {
  const day_ns = 86_400_000_000_000n
  fc.assert(
    fc.property(
      fc.integer({ min: -10, max: 40_000 }),
      fc.integer({ min: 2, max: 400 }),
      (first, days) => {
        const { from } = windowOf(first)
        const [later, earlier] = halve({ from, to: from + BigInt(days) * day_ns }) ?? []
        expect(later?.from).toBe(earlier?.to)
        expect((later?.from ?? 1n) % day_ns).toBe(0n)
        expect(earlier && earlier.to - earlier.from >= day_ns).toBe(true)
        expect(later && later.to - later.from >= day_ns).toBe(true)
      },
    ),
  )
})
