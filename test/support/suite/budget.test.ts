import { expect, test } from 'vitest'
import { chosenBy } from './budget.ts'

test('a quarter of a matrix, in its order, the same for the same seed', () => {
  const matrix = Array.from({ length: 10 }, (_, n) => n)
  const chosen = chosenBy('a', matrix)
  expect(chosen).toHaveLength(3)
  expect(chosen).toEqual(chosen.toSorted((a, b) => a - b))
  expect(chosenBy('a', matrix)).toEqual(chosen)
  expect(chosenBy('a', ['only'])).toEqual(['only'])
  expect(chosenBy('a', [])).toEqual([])
})

test('over many commits every case is chosen about equally often', () => {
  const matrix = Array.from({ length: 16 }, (_, n) => n)
  const counts = new Map(matrix.map((one) => [one, 0]))
  for (let commit = 0; commit < 400; commit += 1) {
    for (const one of chosenBy(`commit ${commit}`, matrix)) {
      counts.set(one, (counts.get(one) ?? 0) + 1)
    }
  }
  for (const [one, count] of counts) {
    expect(count, `case ${one}`).toBeGreaterThan(60)
    expect(count, `case ${one}`).toBeLessThan(150)
  }
})
