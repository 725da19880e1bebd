import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { byDays } from './insert-batches.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'

function ofDays(days: readonly number[]) {
  return days.map((day, at) =>
    observationOf({
      ...{ project_id, observation_id: `o-${at}` },
      start_time: BigInt(Date.UTC(2026, 0, 1 + day)) * 1_000_000n,
    }),
  )
}

test('a batch of few days is one insert, as it came', () => {
  const batch = ofDays([3, 1, 2, 1])
  expect(byDays(batch)).toEqual([batch])
  expect(byDays(batch)[0]).toBe(batch)
})

test('a batch of many days is several inserts of 50 days at most, each row once', () => {
  const batch = ofDays(Array.from({ length: 400 }, (_, at) => (at * 7) % 130))
  const batches = byDays(batch)
  expect(batches).toHaveLength(3)
  for (const one of batches) {
    expect(new Set(one.map(({ start_time }) => start_time)).size).toBeLessThanOrEqual(50)
  }
  const ids = batches.flat().map(({ observation_id }) => observation_id)
  expect(ids.toSorted()).toEqual(batch.map(({ observation_id }) => observation_id).toSorted())
  expect(byDays(batch)).toEqual(batches)
})
