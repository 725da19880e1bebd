import { expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { splitByDays } from './observation-row.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'

function ofDays(days: readonly number[]) {
  return days.map((day, at) =>
    observationOf({
      ...{ project_id, observation_id: `o-${at}` },
      start_time: BigInt(Date.UTC(2026, 0, 1 + day)) * 1_000_000n,
    }),
  )
}

test('a batch of few days is one unchanged insert', () => {
  const batch = ofDays([3, 1, 2, 1])
  expect(splitByDays(batch)).toEqual([batch])
  expect(splitByDays(batch)[0]).toBe(batch)
})

test('a batch of many days is split into inserts of at most 50 days', () => {
  const batch = ofDays(Array.from({ length: 400 }, (_, at) => (at * 7) % 130))
  const batches = splitByDays(batch)
  expect(batches).toHaveLength(3)
  for (const one of batches) {
    expect(new Set(one.map(({ start_time }) => start_time)).size).toBeLessThanOrEqual(50)
  }
  const ids = batches.flat().map(({ observation_id }) => observation_id)
  expect(ids.toSorted()).toEqual(batch.map(({ observation_id }) => observation_id).toSorted())
  expect(splitByDays(batch)).toEqual(batches)
})
