import { expect, test } from 'vitest'
import { compareDurations } from './durations.ts'

const seconds = (files: Record<string, number>) => new Map(Object.entries(files))

test('names what grew, and compares the sums', () => {
  const recorded = seconds({ a: 8, b: 5, c: 2, gone: 3 })
  expect(compareDurations(seconds({ a: 7, b: 7, c: 2, new: 4 }), recorded, 1)).toEqual({
    scale: 1,
    recorded_s: 18,
    now_s: 20,
    grown: [
      { file: 'new', recorded_s: 0, now_s: 4 },
      { file: 'b', recorded_s: 5, now_s: 7 },
    ],
  })
})

test('a slow machine may take longer; a fast one need not be faster', () => {
  const recorded = seconds({ a: 10, b: 10, c: 10 })
  const slow = compareDurations(seconds({ a: 21, b: 19, c: 19 }), recorded, 2)
  expect(slow).toMatchObject({ scale: 2, recorded_s: 60, grown: [{ file: 'a' }] })
  const fast = compareDurations(seconds({ a: 5, b: 5, c: 10 }), recorded, 0.5)
  expect(fast).toMatchObject({ scale: 1, recorded_s: 30 })
})

test('where all files take longer, the machine is slow; where one does, it grew', () => {
  const recorded = seconds({ a: 10, b: 5, c: 2 })
  const slow = compareDurations(seconds({ a: 15, b: 7.5, c: 3 }), recorded, 1)
  expect(slow).toEqual({ scale: 1.5, recorded_s: 25.5, now_s: 25.5, grown: [] })
  const grown = compareDurations(seconds({ a: 20, b: 5, c: 2 }), recorded, 1)
  expect(grown).toMatchObject({ scale: 1, recorded_s: 17, now_s: 27 })
})
