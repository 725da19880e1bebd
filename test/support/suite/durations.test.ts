import { expect, test } from 'vitest'
import { compareDurations } from './durations.ts'

const seconds = (files: Record<string, number>) => new Map(Object.entries(files))

test('names what grew, and compares the sums', () => {
  const recorded = seconds({ a: 10, b: 5, gone: 3 })
  expect(compareDurations(seconds({ a: 9, b: 7, new: 4 }), recorded, 1)).toEqual({
    recorded_s: 18,
    now_s: 20,
    grown: [
      { file: 'new', recorded_s: 0, now_s: 4 },
      { file: 'b', recorded_s: 5, now_s: 7 },
    ],
  })
})

test('a slow machine may take longer; a fast one need not be faster', () => {
  const recorded = seconds({ a: 10 })
  expect(compareDurations(seconds({ a: 19 }), recorded, 2).grown).toEqual([])
  expect(compareDurations(seconds({ a: 21 }), recorded, 2)).toMatchObject({ recorded_s: 20 })
  expect(compareDurations(seconds({ a: 10 }), recorded, 0.5)).toMatchObject({ recorded_s: 10 })
})
